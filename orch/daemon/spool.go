package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"

	"st/orch"
)

// spoolable are the inputs that may come by file: reports of agents, never orders.
var spoolable = map[string]bool{
	"hook": true, "worker-done": true, "worker-progress": true, "agent-started": true, "agent-exited": true,
}

// spoolMax is the longest spool file, in bytes: a line of the socket and the writer's ancestry.
const spoolMax = lineMax + 64<<10

// Spool keeps an input for a daemon that can't be reached now. The file is on disk when it returns. request is
// the id, a uuid, under which the input may have reached the daemon already: it happens once.
func Spool(home, request, name string, from From, body any) error {
	if !spoolable[name] {
		return fmt.Errorf("%s: an order can't wait for a daemon", name)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if from, err = from.witness(); err != nil {
		return err
	}
	line, err := encodeLine(Request{V: Protocol, Op: opDo, Request: request, Name: name, From: from, Body: raw})
	if err != nil {
		return err
	}
	file := fmt.Sprintf("%d-%s.json", time.Now().UnixNano(), request)
	if sandboxable[name] && from.Nonce != "" && insideSandbox(home) {
		return spoolOutside(home, file, line)
	}
	err = writeSpool(SpoolDir(home), file, line)
	if errors.Is(err, fs.ErrNotExist) { // no daemon has run here yet
		if err := Prepare(home); err != nil {
			return err
		}
		err = writeSpool(SpoolDir(home), file, line)
	}
	if err != nil {
		return homeFault(SpoolDir(home), err)
	}
	return nil
}

// writeSpool puts a whole file in the folder or none.
func writeSpool(dir, name string, line []byte) error {
	temp := filepath.Join(dir, "."+name)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(temp) // what went wrong before says more
	}
	return err
}

// Spooled is the daemon's end of the spool.
type Spooled struct {
	Home    string
	Callers *Callers
	Log     *log.Logger
	// Do gives an input to the loop; at is when it was written. The file goes when it returns nil or a
	// refusal; an error that may pass (no *orch.Error, or one of a store that can't be written) leaves it for
	// the next time.
	Do func(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) error
}

// Take gives all files that wait to Do, oldest first. What can't be read is put aside and keeps nobody
// waiting. An error means that the rest still waits.
func (s *Spooled) Take(ctx context.Context) error {
	names, err := s.waiting()
	if err != nil {
		return err
	}
	for _, f := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.take(ctx, f); err != nil {
			return fmt.Errorf("spool: %s: %w", f.name, err)
		}
	}
	return nil
}

// spoolFile is one file that waits.
type spoolFile struct{ dir, name string }

// Len is how many files wait.
func (s *Spooled) Len() (int, error) {
	names, err := s.waiting()
	return len(names), err
}

// waiting lists the files by their time. A file that is being written begins with a dot.
func (s *Spooled) waiting() ([]spoolFile, error) {
	var files []spoolFile
	for _, dir := range []string{SpoolDir(s.Home), sandboxDir(s.Home)} {
		names, err := namesIn(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != SpoolDir(s.Home) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name != asideDir && !strings.HasPrefix(name, ".") {
				files = append(files, spoolFile{dir, name})
			}
		}
	}
	sort.Slice(files, func(i, j int) bool {
		ti, tj := stamp(files[i].name), stamp(files[j].name)
		return ti < tj || ti == tj && files[i].name < files[j].name
	})
	return files, nil
}

func namesIn(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// stamp reads the time in a file's name, 0 where there is none.
func stamp(name string) int64 {
	at, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// take gives one file to Do.
func (s *Spooled) take(ctx context.Context, f spoolFile) error {
	path := filepath.Join(f.dir, f.name)
	req, err := readSpool(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && f.dir == sandboxDir(s.Home) && !sandboxable[req.Name] {
		err = errors.New("only a report may come out of a sandbox")
	}
	if err != nil {
		return s.putAside(f, err)
	}
	err = s.Do(ctx, time.Unix(0, stamp(f.name)), s.writer(ctx, f, req.From), req.Request, req.Name, req.Body)
	if err != nil && !final(err) {
		return err
	}
	if err != nil {
		s.Log.Printf("spool: %s: %s: %s", f.name, req.Name, asError(err).Code)
	}
	return os.Remove(path)
}

// readSpool reads a file and checks that it is one that we wrote.
func readSpool(path string) (Request, error) {
	var req Request
	info, err := os.Lstat(path)
	if err != nil {
		return req, err
	}
	if err := private(info); err != nil {
		return req, err
	}
	if info.Size() > spoolMax {
		return req, errLong
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return req, err
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		return req, fmt.Errorf("no request stands in it")
	}
	return req, req.checkSpooled(filepath.Base(path))
}

func (r Request) checkSpooled(name string) error {
	_, rest, _ := strings.Cut(name, "-")
	switch {
	case stamp(name) == 0 || rest != r.Request+".json":
		return fmt.Errorf("its name does not fit what stands in it")
	case uuid.Validate(r.Request) != nil:
		return fmt.Errorf("its request id is no uuid")
	case r.Op != opDo || !spoolable[r.Name]:
		return fmt.Errorf("not a report")
	case r.V > Protocol:
		return fmt.Errorf("written by a newer program")
	}
	return nil
}

const asideDir = "bad"

// putAside moves a file that can't be read out of the way.
func (s *Spooled) putAside(f spoolFile, why error) error {
	dir := filepath.Join(f.dir, asideDir)
	if err := prepareDir(dir); err != nil {
		return err
	}
	s.Log.Printf("spool: %q put aside: %v", f.name, cause(why))
	return os.Rename(filepath.Join(f.dir, f.name), filepath.Join(dir, f.name))
}

// Watch takes files as they come, until ctx is done. It is ready to see them when ready is closed, which may
// be nil; what came between the last Take and then is taken too.
func (s *Spooled) Watch(ctx context.Context, ready chan<- struct{}) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Add(SpoolDir(s.Home)); err != nil {
		return err
	}
	s.watchOutside(w)
	if ready != nil {
		close(ready)
	}
	again := time.NewTimer(0) // the first look
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-w.Errors:
			s.Log.Printf("spool: %v", err) // an overflow: files are there that nothing told of
		case ev := <-w.Events:
			switch {
			case ev.Has(fsnotify.Remove) && ev.Name == sandboxDir(s.Home): // somebody cleans up /tmp
				again.Reset(time.Second)
			case !ev.Has(fsnotify.Create) || strings.HasPrefix(filepath.Base(ev.Name), "."):
				continue
			}
		case <-again.C:
			s.watchOutside(w)
		}
		if err := s.Take(ctx); err != nil && ctx.Err() == nil {
			s.Log.Printf("%v", err)
			again.Reset(time.Second) // a commit failed, on a full disk: it may go better later
		}
	}
}

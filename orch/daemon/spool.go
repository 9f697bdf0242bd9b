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
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"

	"st/orch"
	"st/orch/failpoint"
)

// spoolable are the inputs that may come by file: reports of agents, never orders.
var spoolable = map[string]bool{
	"hook": true, "worker-done": true, "worker-progress": true, "ask": true, "escalate": true, "agent-started": true, "agent-exited": true,
}

// spoolMax is the longest spool file, in bytes: a line of the socket and the writer's ancestry.
const spoolMax = lineMax + 64<<10

// spoolVersion is the number of what stands in a spool file: the protocol that brought its shape. It is raised when
// an older daemon could misread one; that puts it aside.
const spoolVersion = 1

// fileID is a request id as it stands in a file's name: a uuid as it is, any other as the uuid that follows from it.
func fileID(request string) string {
	if uuid.Validate(request) == nil {
		return request
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(request)).String()
}

// Spool keeps an input for a daemon that can't be reached now. The file is on disk when it returns. request is
// the id under which the input may have reached the daemon already: it happens once. Out of a sandbox a daemon that runs
// takes it at once; where it refuses it, that is the error.
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
	line, err := encodeLine(Request{V: spoolVersion, Op: opDo, Request: request, Name: name, From: from, Body: raw})
	if err != nil {
		return err
	}
	file := fmt.Sprintf("%d-%s.json", failpoint.Now().UnixNano(), fileID(request))
	if sandboxable[name] && (from.Nonce != "" || from.Thread != "") && insideSandbox(home) {
		if err := spoolOutside(home, file, line); err != nil {
			return err
		}
		return refusalOf(home, file)
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
	failpoint.At("spool.rename.before")
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	failpoint.At("spool.rename.after")
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
	// Later tells of a file that was written in a boot of the computer that it is not its turn yet; nil for none.
	Later func(boot string) bool
	// Do gives an input to the loop; at is when it was written. The file goes when it returns nil or a
	// refusal; an error that may pass (no *orch.Error, or one of a store that can't be written) leaves it for
	// the next time.
	Do func(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) error
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
	defer s.leaveOutside()
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
			case ev.Name == sandboxDir(s.Home) && (ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)): // somebody cleans up /tmp
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

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"st/orch"
	"st/orch/failpoint"
)

// folder is one of the spool's, open. In the one outside of home whoever sits in a sandbox may put whatever he likes:
// all is done below its root, so that no link leads the daemon, which is in no sandbox, to files that are not reports.
type folder struct {
	*os.Root
	outside bool
}

// spoolFile is one file that waits.
type spoolFile struct {
	in   folder
	name string
}

// Take gives all files that wait to Do, oldest first. What can't be read is put aside and keeps nobody
// waiting. An error means that the rest still waits.
func (s *Spooled) Take(ctx context.Context) error {
	files, end, err := s.waiting()
	if err != nil {
		return err
	}
	defer end()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.take(ctx, f); err != nil {
			return fmt.Errorf("spool: %s: %w", f.name, err)
		}
	}
	return nil
}

// Len is how many files wait.
func (s *Spooled) Len() (int, error) {
	files, end, err := s.waiting()
	if err != nil {
		return 0, err
	}
	end()
	return len(files), nil
}

// waiting lists the files by their time; end closes their folders. A file that is being written begins with a dot.
func (s *Spooled) waiting() (files []spoolFile, end func(), err error) {
	folders, err := s.folders()
	end = func() {
		for _, in := range folders {
			in.Close()
		}
	}
	for _, in := range folders {
		var names []string
		if names, err = namesIn(in); err != nil {
			end()
			return nil, nil, err
		}
		for _, name := range names {
			if name != asideDir && !strings.HasPrefix(name, ".") {
				files = append(files, spoolFile{in, name})
			}
		}
	}
	sort.Slice(files, func(i, j int) bool {
		ti, tj := stamp(files[i].name), stamp(files[j].name)
		return ti < tj || ti == tj && files[i].name < files[j].name
	})
	return files, end, err
}

// folders opens those that are there. One outside that is not as it should be is left alone: watchOutside says so.
func (s *Spooled) folders() ([]folder, error) {
	home, err := os.OpenRoot(SpoolDir(s.Home))
	if err != nil {
		return nil, err
	}
	list := []folder{{home, false}}
	if outside, err := openOutside(s.Home); err == nil {
		list = append(list, folder{outside, true})
	}
	return list, nil
}

func namesIn(in folder) ([]string, error) {
	dir, err := in.Open(".")
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
	req, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case scarce(err):
		return err
	case err == nil && f.in.outside && !sandboxable[req.Name]:
		err = errors.New("only a report may come out of a sandbox")
	}
	if err != nil {
		return s.spared(f, s.putAside(f, err))
	}
	if s.Later != nil && s.Later(req.From.Boot) {
		return nil
	}
	err = s.Do(ctx, time.Unix(0, stamp(f.name)), s.writer(ctx, f, req.From), req.Request, req.Name, req.Body)
	if err != nil && !final(err) {
		return err
	}
	if err != nil {
		s.Log.Printf("spool: %s: %s: %s", f.name, req.Name, asError(err).Code)
		s.refuse(f, err)
	}
	failpoint.At("spool.remove.before")
	err = f.in.Remove(f.name)
	failpoint.At("spool.remove.after")
	return s.spared(f, err)
}

// spared is an error of the file system, but nil for one outside: who has spoilt that folder must not hold up the
// reports at home.
func (s *Spooled) spared(f spoolFile, err error) error {
	if err != nil && f.in.outside {
		s.Log.Printf("spool: %q, out of a sandbox, stays where it is: %v", f.name, cause(err))
		return nil
	}
	return err
}

// scarce tells that it was not the file's fault that it could not be read: another time it can.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// read reads a file and checks that it is one that we wrote. Opening does not wait, as it would for a pipe.
func (f spoolFile) read() (Request, error) {
	var req Request
	file, err := f.in.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return req, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = private(info)
	}
	if err != nil {
		return req, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, spoolMax+1))
	switch {
	case err != nil:
		return req, err
	case len(raw) > spoolMax:
		return req, errLong
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		return req, fmt.Errorf("no request stands in it")
	}
	return req, req.checkSpooled(f.name)
}

func (r Request) checkSpooled(name string) error {
	_, rest, _ := strings.Cut(name, "-")
	switch {
	case stamp(name) == 0 || rest != fileID(r.Request)+".json":
		return fmt.Errorf("its name does not fit what stands in it")
	case orch.CheckRequest(r.Request) != nil:
		return fmt.Errorf("its request id is none")
	case r.Op != opDo || !spoolable[r.Name]:
		return fmt.Errorf("not a report")
	case r.V > spoolVersion:
		return fmt.Errorf("written by a newer program")
	}
	return nil
}

const asideDir = "bad"

// putAside moves a file that can't be read out of the way.
func (s *Spooled) putAside(f spoolFile, why error) error {
	if err := f.in.Mkdir(asideDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.Log.Printf("spool: %q put aside: %v", f.name, cause(why))
	return f.in.Rename(f.name, filepath.Join(asideDir, f.name))
}

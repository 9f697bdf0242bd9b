package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"st/orch"
	"st/orch/failpoint"
)

// An agent's sandbox may let no socket through. A report that is made there goes into a folder in /tmp, which most
// sandboxes leave writable. Nothing in such a file but the agent's secret says who wrote
// it: the sandbox has process ids of its own.

// sandboxable are the inputs that may come out of a sandbox.
var sandboxable = map[string]bool{"worker-done": true, "worker-progress": true, "ask": true, "escalate": true}

// errSandboxed says that a sandbox keeps the caller from the daemon.
var errSandboxed error = &orch.Error{
	Code:    "sandboxed",
	Message: "this shell runs in a sandbox that lets no socket through, so the daemon can't be reached",
	Hint:    "ask to run this very command, alone on its line, outside the sandbox; a person can let such commands pass for good:",
	Next:    []string{"st hooks install --allow"},
}

// sandboxed tells that a sandbox forbade to connect: a missing socket, one that is not ours and one that nobody
// listens on give other errors.
func sandboxed(err error) bool { return errors.Is(err, syscall.EPERM) }

// sandboxDir is the folder of reports out of sandboxes.
func sandboxDir(home string) string { return filepath.Join(shortDir(home), "spool") }

// insideSandbox tells whether a sandbox keeps this process from the daemon of home. Its ancestry, by which a report
// at home is judged, means nothing then, even where home can be written.
func insideSandbox(home string) bool {
	conn, err := net.Dial("unix", SocketPath(home))
	if err == nil {
		conn.Close()
	}
	return sandboxed(err)
}

// refusalTime is how long a report out of a sandbox waits for a daemon to take it. Where one runs that is within
// milliseconds.
const refusalTime = 2 * time.Second

// refusalName is the file in which a daemon leaves why it refused a report. With a dot it is none of those that wait.
func refusalName(file string) string { return "." + file + ".refused" }

// refusalOf waits until a report was taken, and is what the daemon had against it. Where none takes it in time nothing is
// known of it yet.
func refusalOf(home, file string) error {
	dir := sandboxDir(home)
	for end := time.Now().Add(refusalTime); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Lstat(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil || time.Now().After(end) {
			return nil
		}
	}
	path := filepath.Join(dir, refusalName(file))
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil // it was taken
	}
	e := &orch.Error{}
	if err := json.Unmarshal(raw, e); err != nil {
		return err
	}
	return errors.Join(e, removed(path))
}

// refuse leaves for whoever has just written a report out of a sandbox why it was refused.
func (s *Spooled) refuse(f spoolFile, why error) {
	if !f.in.outside || failpoint.Now().Sub(time.Unix(0, stamp(f.name))) > refusalTime {
		return // nobody waits
	}
	raw, err := json.Marshal(asError(why))
	if err == nil {
		err = f.in.WriteFile(refusalName(f.name), raw, 0o600)
	}
	if err != nil {
		s.Log.Printf("spool: %q: its writer was not told that it was refused: %v", f.name, cause(err))
	}
}

// spoolOutside keeps a report in the folder in /tmp.
func spoolOutside(home, file string, line []byte) error {
	err := fs.ErrNotExist
	for try := 0; try < 2 && errors.Is(err, fs.ErrNotExist); try++ { // a daemon that ends may have just removed it
		var dir string
		if dir, err = prepareOutside(home); err == nil {
			err = writeSpool(dir, file, line)
		}
	}
	if err == nil {
		return nil
	}
	e := *errSandboxed.(*orch.Error)
	e.Message += ", and it leaves no folder in which the report could wait (" + cause(err).Error() + ")"
	return &e
}

// prepareOutside makes the folder, each part of it ours and closed to others.
func prepareOutside(home string) (string, error) {
	for _, d := range outsideDirs(home) {
		if err := prepareDir(d); err != nil {
			return "", err
		}
		if err := checkNoLink(d); err != nil {
			return "", err
		}
	}
	return sandboxDir(home), nil
}

// outsideDirs are the folder and those in which it lies, outermost first.
func outsideDirs(home string) []string {
	dir := sandboxDir(home)
	return []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir}
}

// openOutside opens the folder if it is ours, closed to others, and no link. One that is put there meanwhile leads no
// further than to another place in /tmp, which the sandbox leaves open anyway.
func openOutside(home string) (*os.Root, error) {
	dirs := outsideDirs(home)
	top, err := os.OpenRoot(filepath.Dir(dirs[0]))
	if err != nil {
		return nil, err
	}
	defer top.Close()
	for _, d := range dirs {
		if err := checkNoLink(d); err != nil {
			return nil, err
		}
	}
	path, err := filepath.Rel(top.Name(), sandboxDir(home))
	if err != nil {
		return nil, err
	}
	root, err := top.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = checkClosed(sandboxDir(home), info)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// watchOutside watches the folder, and makes it where it is missing.
func (s *Spooled) watchOutside(w *fsnotify.Watcher) {
	dir, err := prepareOutside(s.Home)
	if err == nil {
		err = w.Add(dir)
	}
	if err != nil {
		s.Log.Printf("spool: what sandboxed agents leave is not watched: %v", err)
	}
}

// leaveOutside removes the folder unless something waits in it, and refusals that nobody has read. Who needs it next makes it
// anew.
func (s *Spooled) leaveOutside() {
	if root, err := openOutside(s.Home); err == nil { // else it is none of ours
		if err := dropRefusals(folder{root, true}); err != nil {
			s.Log.Printf("spool: %v", cause(err))
		}
		root.Close()
	}
	for _, d := range slices.Backward(outsideDirs(s.Home)[1:]) { // the outermost is for all homes
		if os.Remove(d) != nil {
			return
		}
	}
}

// writer says who wrote a spool file: at home what it says of its ancestry, outside its secret alone, and the
// conversation to which it belongs.
func (s *Spooled) writer(ctx context.Context, f spoolFile, from From) orch.Caller {
	if f.in.outside {
		return orch.Caller{Nonce: from.Nonce, Thread: from.Thread, Dir: from.Dir, Path: "sandbox"}
	}
	return s.Callers.InSpool(ctx, from)
}

func dropRefusals(in folder) error {
	names, err := namesIn(in)
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, "."); ok && strings.HasSuffix(file, ".refused") {
			err = errors.Join(err, in.Remove(name))
		}
	}
	return err
}

//go:build unix

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// With JOURNAL_CHILD the test binary opens that store, says how that went, and holds it until its input
// ends.
func TestMain(m *testing.M) {
	dir := os.Getenv("JOURNAL_CHILD")
	if dir == "" {
		os.Exit(m.Run())
	}
	j, err := Open(dir, Options{Wait: 50 * time.Millisecond})
	fmt.Println(kindOf(err), err)
	_, waited := io.Copy(io.Discard, os.Stdin)
	if err == nil {
		err = j.Close()
	}
	if err := errors.Join(err, waited); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func kindOf(err error) string {
	for name, kind := range map[string]error{"locked": ErrLocked, "read-only": ErrReadOnly, "corrupt": ErrCorrupt, "newer": ErrNewer} {
		if errors.Is(err, kind) {
			return name
		}
	}
	if err == nil {
		return "open"
	}
	return "other"
}

// child opens the store in another process, as another user if the test runs as root, and returns what it
// said. end lets it go.
func child(t *testing.T, dir string, otherUser bool) (said string, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	if otherUser {
		cmd = exec.Command(readable(t))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
		cmd.Dir = "/"
	}
	cmd.Env = append(os.Environ(), "JOURNAL_CHILD="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	return said, func() {
		// The exit status repeats what was said.
		if err := errors.Join(in.Close(), ignoreExit(cmd.Wait())); err != nil {
			t.Error(err)
		}
	}
}

func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

const nobody = 65534

// readable is the test binary where another user can run it.
func readable(t *testing.T) string {
	t.Helper()
	dir := public(t)
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test")
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// public is a temporary folder that other users can enter; those of the testing package are not.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLockedByAnotherProcess(t *testing.T) {
	dir := filled(t)
	said, end := child(t, dir, false)
	if !strings.HasPrefix(said, "open") {
		t.Fatal(said)
	}
	if _, err := Open(dir, Options{Wait: 50 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Errorf("while another process holds it: %v", err)
	}
	if len(asides(t, dir)) > 0 {
		t.Error("a store in use was moved away")
	}
	end()
	shut(t, open(t, dir, Options{}))
}

// A store that is let go within the wait is opened.
func TestLockIsWaitedFor(t *testing.T) {
	dir := filled(t)
	said, end := child(t, dir, false)
	if !strings.HasPrefix(said, "open") {
		t.Fatal(said)
	}
	opened := make(chan error, 1)
	go func() {
		j, err := Open(dir, Options{Wait: 20 * time.Second})
		if err == nil {
			err = j.Close()
		}
		opened <- err
	}()
	end()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestReadOnly(t *testing.T) {
	root := os.Geteuid() == 0
	for _, c := range []struct {
		name         string
		folder, file os.FileMode
		want         string
	}{
		{"the folder", 0o500, 0o600, "read-only"},
		{"the file", 0o700, 0o400, "read-only"},
		{"unreadable", 0o700, 0o000, "read-only"},
		{"nothing", 0o700, 0o600, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(public(t), "home")
			if err := os.CopyFS(dir, os.DirFS(filled(t))); err != nil {
				t.Fatal(err)
			}
			own(t, dir, root)
			for path, mode := range map[string]os.FileMode{filepath.Join(dir, File): c.file, dir: c.folder} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			said, end := child(t, dir, root)
			end()
			if !strings.HasPrefix(said, c.want) {
				t.Errorf("it said %q, want %q", said, c.want)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if len(asides(t, dir)) > 0 {
				t.Error("a store that can't be written was moved away")
			}
		})
	}
}

// own gives all of a folder to the other user.
func own(t *testing.T, dir string, root bool) {
	t.Helper()
	if !root {
		return
	}
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Chown(path, nobody, nobody))
	})
	if err != nil {
		t.Fatal(err)
	}
}

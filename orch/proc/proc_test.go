//go:build linux || darwin

package proc

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sleeper starts a process that stays until it is ended, and the process as we see it.
func sleeper(t *testing.T, argv ...string) (*exec.Cmd, Process) {
	t.Helper()
	if len(argv) == 0 {
		argv = []string{"sleep", "1000"}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill() // most tests have ended it
		cmd.Wait()         // it was killed
	})
	p, err := Of(cmd.Process.Pid)
	must(t, err)
	return cmd, p
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

func TestSelfAndItsChain(t *testing.T) {
	self, err := Of(os.Getpid())
	must(t, err)
	if self.PID != os.Getpid() || self.Start == 0 || !Alive(self) {
		t.Errorf("self %+v", self)
	}
	chain, err := Chain(os.Getpid())
	must(t, err)
	exe, err := os.Executable()
	must(t, err)
	if chain[0].Process != self || chain[0].Exe != exe || chain[0].Argv[0] != os.Args[0] || chain[1].PID != os.Getppid() {
		t.Errorf("chain begins with %+v", chain[:2])
	}
	if last := chain[len(chain)-1]; last.PPID != 0 {
		t.Errorf("chain ends with %+v, want the top", last)
	}
}

func TestNameMayHoldAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a) R 1 (집")
	raw, err := os.ReadFile("/bin/sleep")
	must(t, err)
	must(t, os.WriteFile(path, raw, 0o700))
	cmd, p := sleeper(t, path, "1000")
	// The process may still be the fork that has not become the program.
	until(t, "it is the program", func() bool {
		info, err := Look(p.PID)
		return err == nil && info.Exe == path && strings.Join(info.Argv, "|") == path+"|1000"
	})
	info, err := Look(cmd.Process.Pid)
	must(t, err)
	if info.PPID != os.Getpid() || info.Process != p {
		t.Errorf("%+v", info)
	}
}

func TestGone(t *testing.T) {
	cmd, p := sleeper(t)
	must(t, cmd.Process.Kill())
	until(t, "a zombie is not alive", func() bool { return !Alive(p) })
	if _, err := Of(p.PID); !errors.Is(err, ErrGone) {
		t.Errorf("a zombie: %v", err)
	}
	if _, err := Chain(p.PID); !errors.Is(err, ErrGone) {
		t.Errorf("a zombie's chain: %v", err)
	}
	cmd.Wait() // it was killed
	if _, err := Look(p.PID); !errors.Is(err, ErrGone) {
		t.Errorf("one that was reaped: %v", err)
	}
	if err := Signal(p, syscall.SIGTERM); !errors.Is(err, ErrGone) {
		t.Errorf("a signal to it: %v", err)
	}
}

func TestPidOfAnotherIsNotAlive(t *testing.T) {
	_, p := sleeper(t)
	p.Start++
	if Alive(p) {
		t.Error("another start time counts as the same process")
	}
	if err := Signal(p, syscall.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("a signal: %v", err)
	}
}

func TestTree(t *testing.T) {
	_, shell := sleeper(t, "sh", "-c", "sh -c 'sleep 1000; :'; :")
	var tree []Info
	until(t, "three generations run", func() bool {
		var err error
		tree, err = Tree(shell.PID)
		must(t, err)
		return len(tree) == 2 && filepath.Base(tree[1].Argv[0]) == "sleep"
	})
	if tree[0].PPID != shell.PID || tree[1].PPID != tree[0].PID {
		t.Errorf("tree %+v", tree)
	}
	must(t, Signal(tree[1].Process, syscall.SIGKILL))
	until(t, "all have ended", func() bool { return !Alive(tree[0].Process) })
}

// TestInside: a process is inside a folder and those above it, by whatever name that is called, and in no other.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	in, link := filepath.Join(dir, "a", "b"), filepath.Join(dir, "link")
	must(t, os.MkdirAll(in, 0o700))
	must(t, os.MkdirAll(filepath.Join(dir, "a", "b2"), 0o700))
	must(t, os.Symlink(filepath.Join(dir, "a"), link))
	cmd := exec.Command("sleep", "1000")
	cmd.Dir = in
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill() // it may have ended
		cmd.Wait()         // it was killed
	})
	for at, want := range map[string]bool{in: true, filepath.Dir(in): true, link: true, in + "2": false} {
		all, err := Inside(at)
		must(t, err)
		is := slices.ContainsFunc(all, func(p Info) bool { return p.PID == cmd.Process.Pid })
		if is != want {
			t.Errorf("it is inside %s: %v", at, is)
		}
	}
	if _, err := Inside(filepath.Join(dir, "none")); err == nil {
		t.Error("somebody may be in a folder that is not there")
	}
}

func TestWatcherTellsOfEachEnd(t *testing.T) {
	w, err := NewWatcher()
	must(t, err)
	defer w.Close()
	const many = 50
	var told atomic.Int32
	for range many {
		_, p := sleeper(t)
		must(t, w.Watch(p, func() { told.Add(1) }))
		if err := Signal(p, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all are told", func() bool { return told.Load() == many })
}

func TestWatcherRefusesAndForgets(t *testing.T) {
	w, err := NewWatcher()
	must(t, err)
	cmd, p := sleeper(t)
	other := p
	other.Start++
	if err := w.Watch(other, func() {}); !errors.Is(err, ErrGone) {
		t.Errorf("another process of that pid: %v", err)
	}
	var first, second, late atomic.Int32
	must(t, w.Watch(p, func() { first.Add(1) }))
	must(t, w.Watch(p, func() { second.Add(1) }))
	_, q := sleeper(t)
	must(t, w.Watch(q, func() { late.Add(1) }))
	w.Forget(q)
	must(t, Signal(q, syscall.SIGKILL))
	until(t, "the forgotten has ended", func() bool { return !Alive(q) })
	must(t, Signal(p, syscall.SIGKILL))
	until(t, "the newer one is told", func() bool { return second.Load() == 1 })
	cmd.Wait() // it was killed
	if err := w.Watch(p, func() {}); !errors.Is(err, ErrGone) {
		t.Errorf("one that has ended: %v", err)
	}
	must(t, w.Close())
	must(t, w.Close())
	if first.Load() != 0 || late.Load() != 0 {
		t.Errorf("told: replaced %d, forgotten %d, want none", first.Load(), late.Load())
	}
	if self, err := Of(os.Getpid()); err != nil || w.Watch(self, func() {}) == nil {
		t.Errorf("a closed watcher took another (%v)", err)
	}
}

func TestPeer(t *testing.T) {
	dir, err := os.MkdirTemp("", "st")
	must(t, err)
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	must(t, err)
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	must(t, err)
	conn, err := l.AcceptUnix()
	must(t, err)
	defer conn.Close()
	pid, uid, err := Peer(conn)
	if err != nil || pid != os.Getpid() || uid != os.Getuid() {
		t.Errorf("peer %d of user %d, %v", pid, uid, err)
	}
	if HungUp(conn) {
		t.Error("an open connection counts as hung up")
	}
	_, err = client.Write([]byte("x"))
	must(t, err)
	if HungUp(conn) {
		t.Error("unread bytes count as hung up")
	}
	var one [1]byte
	_, err = conn.Read(one[:])
	must(t, err)
	must(t, client.Close())
	until(t, "it hangs up", func() bool { return HungUp(conn) })
}

// BenchmarkWatch is the time from an end to its telling.
func BenchmarkWatch(b *testing.B) {
	w, err := NewWatcher()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		b.StopTimer()
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		p, err := Of(cmd.Process.Pid)
		if err != nil {
			b.Fatal(err)
		}
		told := make(chan struct{})
		if err := w.Watch(p, func() { close(told) }); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := Signal(p, syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		<-told
		b.StopTimer()
		cmd.Wait() // it was killed
		b.StartTimer()
	}
}

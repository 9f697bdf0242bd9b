//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"st/orch/proc/proctest"
)

// bench is what belongs to one script and is ended with it.
type bench struct {
	dir    string // short: a socket's path may have about 100 bytes
	socket string
	pids   []int // of tmux servers
	people map[string]*os.File
	panes  int
}

type benchKey struct{}

func benchOf(ts *testscript.TestScript) *bench { return ts.Value(benchKey{}).(*bench) }

// kill ends all processes of the script.
func (b *bench) kill() {
	for _, pid := range b.processes() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// limited kills all processes of the script once its time is over, again and again: whatever it waits for in vain ends with
// them, so that one fault doesn't cost the others their time. The function that is returned ends that, and says whether it came.
func (b *bench) limited(most time.Duration) (end func() error) {
	ended, told := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-ended:
			told <- nil
			return
		case <-time.After(most):
		}
		for {
			b.kill()
			select {
			case <-ended:
				told <- fmt.Errorf("it took more than %v, so all that it had started was killed", most)
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return func() error { close(ended); return <-told }
}

// end stops everything that the script has started, each process by its id, and tells what did not end.
func (b *bench) end(home string) error {
	for _, tty := range b.people {
		tty.Close()
	}
	told := map[int]bool{}
	left := b.await(func(pid int) {
		// The last hook of an agent may call back the daemon that has been told to end.
		if daemon := pid == daemonPID(home); !told[pid] && (daemon || slices.Contains(b.pids, pid)) {
			told[pid] = true
			syscall.Kill(pid, syscall.SIGCONT)
			syscall.Kill(pid, syscall.SIGTERM)
		}
	})
	for _, pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	err := os.RemoveAll(b.dir)
	if len(left) > 0 {
		return fmt.Errorf("still running after the script's end: %s", describe(left))
	}
	return err
}

// await waits until no process of the script runs, and answers those that do after all. Whatever still runs is handed
// to end, again and again.
func (b *bench) await(end func(pid int)) []int {
	for begun := time.Now(); ; pause(begun) {
		left := b.processes()
		if len(left) == 0 || time.Since(begun) > limit {
			return left
		}
		for _, pid := range left {
			end(pid)
		}
	}
}

// processes are those with the script's folder in their environment. Without /proc none can be found.
func (b *bench) processes() []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && pid != os.Getpid() && b.owns(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns tells whether a process was started by the script.
func (b *bench) owns(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && strings.Contains(string(raw), b.dir)
}

func describe(pids []int) string {
	var all []string
	for _, pid := range pids {
		argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil {
			all = append(all, fmt.Sprintf("%d %q", pid, strings.ReplaceAll(string(argv), "\x00", " ")))
		}
	}
	return strings.Join(all, ", ")
}

func daemonPID(home string) int {
	raw, err := os.ReadFile(filepath.Join(home, "run", "lock"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// run runs tmux on the script's own server.
func (b *bench) run(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", b.socket}, args...)...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), b.env(ts)
	out, err := proctest.CombinedOutput(cmd)
	if err != nil {
		return string(out), fmt.Errorf("tmux %q: %w: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// env is what a server, and with it each pane, starts from.
func (b *bench) env(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "ST_HOME", "TMUX_TMPDIR", "TERM", "LANG", "SHELL", "PS1", "WORK", "BENCH"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

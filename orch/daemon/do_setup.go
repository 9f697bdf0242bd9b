package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc"
)

// setups are the commands that make worktrees ready just now, by the worker.
type setups struct {
	mu      sync.Mutex
	running map[string]context.CancelCauseFunc
}

var errStopped = errors.New("it was stopped")

// begin notes that a setup runs.
func (s *setups) begin(worker string, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[string]context.CancelCauseFunc{}
	}
	s.running[worker] = end
}

func (s *setups) over(worker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, worker)
}

// stop ends a setup; one that does not run is nothing to do.
func (s *setups) stop(worker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end := s.running[worker]; end != nil {
		end(errStopped)
	}
}

// setupRun runs the command that makes a worktree ready, in the shell and with the environment of whoever asked for it.
// What it writes is kept. One that an earlier daemon began is not begun again: nobody knows how far it came.
func (d *doer) setupRun(ctx context.Context, r Running, o orch.SetupRun) orch.What {
	ended := orch.SetupEnded{Worker: o.Worker, Log: filepath.Join(copyDir(d.home), o.Run, o.Worker+"-setup.log")}
	if o.Beside {
		defer func() { d.noteSetup(ctx, o, beginPath(ended.Log, o.Worker)) }()
	}
	if r.Resumed && r.Stage != "" {
		endLeft(ctx, r.Stage)
		ended.Why = "the daemon ended while it ran, and nobody knows how far it came"
		return ended
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.setups.begin(o.Worker, cancel)
	defer d.setups.over(o.Worker)
	if d.beingStopped(o.Worker) { // before it was noted
		cancel(errStopped)
	}
	if err := d.setup(within, r, o, ended.Log); err != nil {
		ended.Why = err.Error()
	}
	return ended
}

func (d *doer) beingStopped(worker string) (yes bool) {
	d.state(func(v orch.View) {
		w, ok := v.Entity("worker/" + worker).(orch.Worker)
		yes = ok && w.Stopping != nil
	})
	return yes
}

func (d *doer) setup(ctx context.Context, r Running, o orch.SetupRun, path string) error {
	kept := filepath.Join(scratch(d.home, o.Agent), setupEnv)
	env, err := readEnv(kept)
	if errors.Is(err, fs.ErrNotExist) && o.Look { // it has begun before the store was lost: never once more over somebody's work
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("its environment was removed before it began")
	}
	if err != nil {
		return err
	}
	c := treeCommand{line: o.Command, dir: o.Dir, from: o.From, log: path, limit: unlimited(d.config.Limits.Setup), key: "setup"}
	return c.run(ctx, r, env, func() error { return os.Remove(kept) })
}

// treeCommand is a person's command that is run in a worktree.
type treeCommand struct {
	line      string
	dir, from string // the worktree's folder, and the working tree that it comes from
	log       string // path of the file for what it writes
	limit     time.Duration
	key       string // of [limits], by which that is set
}

// run runs it, and begin before its first act.
func (c treeCommand) run(ctx context.Context, r Running, env []string, begin func() error) error {
	if err := prepareCopyDir(filepath.Dir(c.log)); err != nil {
		return err
	}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	within, cancel := context.WithTimeoutCause(ctx, c.limit, fmt.Errorf("it did not end within %v, which [limits] %s in config.toml sets", c.limit, c.key))
	defer cancel()
	cmd := exec.CommandContext(within, "/bin/sh", "-c", onceTold, c.key, c.line)
	cmd.Dir, cmd.Env = c.dir, append(env, "ST_WORKTREE="+c.dir, "ST_REPO="+c.from)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = ownSession()
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = time.Second
	start, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failpoint.At("command.start.after")
	err = r.Tell(ctx, stageOf(cmd.Process.Pid))
	failpoint.At("command.told")
	if err == nil {
		err = begin()
	}
	failpoint.At("command.begin.before")
	if err == nil {
		_, err = start.Write([]byte("begin\n"))
	}
	start.Close() // whoever has not been told to begin ends
	err = errors.Join(err, ending(cmd.Wait(), c.log))
	failpoint.At("command.ended")
	if within.Err() != nil {
		return context.Cause(within)
	}
	return err
}

// onceTold runs a command once it is known in the store that it does: a daemon that was killed before that has begun
// nothing, and one that is killed after it leaves its process to be found.
const onceTold = `read -r begin || exit 125; exec /bin/sh -c "$1" </dev/null`

// stageOf tells which process runs, so that it can be ended by the next daemon.
func stageOf(pid int) string {
	p, err := processOf(pid)
	if err != nil {
		return "ran"
	}
	return fmt.Sprintf("%d %d", p.PID, p.Start)
}

// endLeft ends a command that an earlier daemon began, while it is that very process.
func endLeft(ctx context.Context, stage string) {
	pid, start, ok := strings.Cut(stage, " ")
	n, err := strconv.Atoi(pid)
	at, err2 := strconv.ParseUint(start, 10, 64)
	if !ok || err != nil || err2 != nil {
		return
	}
	p := orch.Process{PID: n, Start: at}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if alive(p) && signalGroup(proc.Process(p), sig) == nil && awaitEnd(ctx, killTime, p) {
			return
		}
	}
}

// ending says how a command ended badly, with the last line that it wrote.
func ending(err error, path string) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	why := "it ended with " + exit.ProcessState.String()
	raw, _ := os.ReadFile(path) // what it wrote is there to be read: this is a hint
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if last := strings.TrimSpace(string(lines[len(lines)-1])); last != "" {
		why += "; the last line that it wrote: " + strings.ToValidUTF8(last[:min(len(last), 200)], "")
	}
	return errors.New(why)
}

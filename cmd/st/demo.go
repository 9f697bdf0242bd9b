package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
	"st/tmux"
)

var demoVerb = &verb{
	name: "demo", about: "show the whole of it: two workers on a tmux server of their own",
	help: "A run, two workers, wait and read, by the same verbs that you would type, on a tmux server, a daemon\n" +
		"and a state folder that exist for this demo only and are removed at its end. It ends with 0 only if all\n" +
		"of it has truly happened.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "use this `KIND` instead of the built-in agent"},
			&cli.BoolFlag{Name: "keep", Usage: "leave server, daemon and folders, and say where"},
		}
	},
	codes: []int{exitWorkFailed, exitNeedsInput, exitNoReport, exitGone, exitRefused, exitUnknown, exitTimedOut, exitInterrupted},
	run:   runDemo,
}

func init() { register(demoVerb) }

// stage is where a demo plays: its folders, its tmux server and how a child sees them.
type stage struct {
	c       *call
	kind    hooks.Kind
	dir     string // all of it
	home    string
	project string
	socket  string
	server  tmux.Identity
	env     []string
	steps   []demoStep
	keep    bool // leave all of it standing
}

// demoStep is one verb that was run, for --json.
type demoStep struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Said    string `json:"said"`
}

// demoTask is a worker of the demo and how its work is proved.
type demoTask struct{ name, text, file, want string }

func runDemo(c *call) (int, error) {
	s, err := newStage(c)
	if err != nil {
		return 0, err
	}
	code, err := s.perform()
	// It has left before anything is said of it: a fault in that must not come behind the one JSON object.
	if err := errors.Join(err, s.leave()); err != nil {
		return 0, err
	}
	return s.told(code)
}

func (s *stage) perform() (int, error) {
	if err := s.set(); err != nil {
		return 0, err
	}
	return s.play()
}

// told says what was done, with --json all of it. A step that ended otherwise than it should is a refusal, but the exit
// code is the step's own.
func (s *stage) told(code int) (int, error) {
	if !s.c.out.json {
		if code != exitDone || s.keep {
			return code, nil
		}
		return code, s.tell("all of it has happened, and server, daemon and folders are removed; in a tmux of your own:\n  %s",
			block("st worker start --agent "+s.kind.Name()+" --prompt 'say hello'"))
	}
	result := map[string]any{"steps": s.steps, "kept": s.keep, "folder": s.dir}
	if code == exitDone {
		return code, s.c.out.data(result)
	}
	last := s.steps[len(s.steps)-1]
	s.c.out.refusal(&orch.Error{
		Code: "demo_ended", Message: fmt.Sprintf("%s ended with %d: %s", last.Command, code, meaning(code)), Data: result,
	})
	return code, nil
}

func newStage(c *call) (*stage, error) {
	if _, err := tmux.InstalledVersion(c.ctx); err != nil {
		return nil, daemon.TmuxFault(err)
	}
	kind, err := builtIn()
	if c.IsSet("agent") {
		kind, err = hooks.Lookup(c.String("agent"))
	}
	if err != nil {
		return nil, c.misuse("demo: %v", err)
	}
	if _, err := program(kind); err != nil {
		return nil, err
	}
	// Short, since a socket's path may have about 100 bytes and TMPDIR can be long.
	dir, err := os.MkdirTemp("/tmp", "st-demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{c: c, kind: kind, dir: dir, home: filepath.Join(dir, "home"), socket: filepath.Join(dir, "tmux"), keep: c.Bool("keep")}
	s.project, err = projectFolder(kind, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// projectFolder makes the folder that the workers work in. A real agent asks whether a new folder is to be
// trusted, but takes a folder below one that is.
func projectFolder(kind hooks.Kind, dir string) (string, error) {
	if kind.Program() == "" {
		project := filepath.Join(dir, "project")
		return project, os.Mkdir(project, 0o700)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(here, "st-demo-")
}

// builtIn is the kind whose program is st itself.
func builtIn() (hooks.Kind, error) {
	for _, name := range hooks.Names() {
		if k, err := hooks.Lookup(name); err == nil && k.Program() == "" {
			return k, nil
		}
	}
	return nil, errors.New("no agent is built in")
}

// set makes the folders and the tmux server.
func (s *stage) set() error {
	if err := os.Mkdir(s.home, 0o700); err != nil {
		return err
	}
	// The tasks below are ours: their commands may run also where an agent has called st demo.
	config := []byte("[agents_may]\ndemo_run = true\n")
	if err := os.WriteFile(filepath.Join(s.home, "config.toml"), config, 0o600); err != nil {
		return err
	}
	t := tmux.At(s.socket)
	pane, err := t.Bare().NewSession(s.c.ctx, "demo", s.project, []string{"sh", "-i"}, nil)
	if err != nil {
		return err
	}
	if s.server, err = t.Identity(s.c.ctx); err != nil {
		return err
	}
	s.env = append(s.childEnv(), fmt.Sprintf("TMUX=%s,%d,0", s.socket, s.server.PID), "TMUX_PANE="+pane.ID, "ST_HOME="+s.home)
	return s.tell("a tmux server of its own: %s (pid %d)", s.socket, s.server.PID)
}

// childEnv is our environment without what says where we sit ourselves.
func (s *stage) childEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains([]string{"TMUX", "TMUX_PANE", "ST_HOME", "ST_AGENT", "NO_COLOR"}, name)
	})
}

// play is the demo itself. The first step that doesn't end as it should ends it.
func (s *stage) play() (int, error) {
	tasks := s.tasks()
	steps := [][]string{{"orch", "start", "--objective", "greet, and count what was written"}}
	for _, t := range tasks {
		path := filepath.Join(s.dir, t.name+".md")
		if err := os.WriteFile(path, []byte(t.text), 0o600); err != nil {
			return 0, err
		}
		steps = append(steps, []string{"worker", "start", "--agent", s.kind.Name(), "--name", t.name, "--task", path})
	}
	for _, args := range steps {
		if code, err := s.st(args...); err != nil || code != exitDone {
			return code, err
		}
	}
	if err := s.checkWindows(tasks); err != nil {
		return 0, err
	}
	steps = [][]string{{"worker", "wait", "--timeout", "10m"}}
	for _, t := range tasks {
		steps = append(steps, []string{"worker", "read", t.name})
	}
	for _, args := range steps {
		if code, err := s.st(args...); err != nil || code != exitDone {
			return code, err
		}
	}
	return exitDone, s.checkWork(tasks)
}

// tasks are two small pieces of work whose results can be looked at from outside.
func (s *stage) tasks() []demoTask {
	hello, count := filepath.Join(s.project, "hello.txt"), filepath.Join(s.project, "count.txt")
	writer := demoTask{name: "writer", file: hello, want: "hello from a worker"}
	counter := demoTask{name: "counter", file: count, want: "2"}
	if s.kind.Program() == "" {
		writer.text = "write hello.txt hello from a worker\ndone wrote hello.txt\n"
		counter.text = "run printf 'a\\nb\\n' | grep -c . > count.txt && cat count.txt\nsay counted the lines: 2, in count.txt\n"
		return []demoTask{writer, counter}
	}
	writer.text = "Write a file hello.txt in the current folder that holds exactly this line: hello from a worker\n"
	counter.text = "Write a file count.txt in the current folder that holds exactly the number of lines of this text, as digits:\na\nb\n"
	return []demoTask{writer, counter}
}

// st runs one verb as a child, as if it were typed in the demo's pane, and shows what it says.
func (s *stage) st(args ...string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	shown := "st"
	for _, a := range args {
		shown += " " + shellWord(a)
	}
	if err := s.tell("$ %s", shown); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(s.c.ctx, self, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	out, err := cmd.CombinedOutput()
	if s.c.ctx.Err() != nil {
		return 0, s.c.ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	code := cmd.ProcessState.ExitCode()
	s.steps = append(s.steps, demoStep{Command: shown, Exit: code, Said: string(out)})
	for _, row := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		if err := s.tell("    %s", row); err != nil {
			return 0, err
		}
	}
	if code != exitDone {
		return code, s.tell("that ended with %d (%s), the demo ends here", code, meaning(code))
	}
	return code, nil
}

// checkWindows proves that each worker has a window of its own.
func (s *stage) checkWindows(tasks []demoTask) error {
	panes, err := tmux.At(s.socket).Panes(s.c.ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		i := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.WindowName == t.name })
		if i < 0 {
			return fmt.Errorf("worker %q has no window on the demo's server", t.name)
		}
		if err := s.tell("seen: window %s %q, pane %s, pid %d", panes[i].Window, t.name, panes[i].ID, panes[i].PID); err != nil {
			return err
		}
	}
	return nil
}

// checkWork proves that the files are there and that the reports stand in run.json.
func (s *stage) checkWork(tasks []demoTask) error {
	for _, t := range tasks {
		raw, err := os.ReadFile(t.file)
		if err != nil {
			return fmt.Errorf("worker %q: %w", t.name, err)
		}
		got := strings.TrimSpace(string(raw))
		if got != t.want {
			return fmt.Errorf("worker %q: %s holds %q, not %q", t.name, t.file, got, t.want)
		}
		if err := s.tell("seen: %s holds %q", t.file, got); err != nil {
			return err
		}
	}
	path := filepath.Join(s.home, "orch", "r1", "run.json")
	reports, err := awaitReports(s.c.ctx, path, len(tasks))
	if err != nil {
		return err
	}
	return s.tell("seen: %s holds the reports: %s", path, strings.Join(reports, "; "))
}

// awaitReports reads the summaries in a run.json. It is written after the commit that wait returns on, so
// the last report may come a moment later.
func awaitReports(ctx context.Context, path string, want int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		reports, err := readReports(path)
		if err == nil && len(reports) >= want {
			return reports, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s holds %d reports, not %d", path, len(reports), want), err)
		case <-tick.C:
		}
	}
}

func readReports(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := orch.ReadRunFile(filepath.Base(filepath.Dir(path)), raw)
	if err != nil {
		return nil, err
	}
	var reports []string
	for _, r := range file.Reports {
		reports = append(reports, r.Outcome+", "+r.Summary)
	}
	return reports, nil
}

// leave ends the daemon and the server and removes the folders, or says where they are.
func (s *stage) leave() error {
	if s.keep {
		s.c.out.note("kept: look with   tmux -S %s attach", s.socket)
		// In the order of leave, and without a folder inside of another: rm would miss it.
		s.c.out.note("end it with       tmux -S %s kill-server; ST_HOME=%s st down; rm -r %s", s.socket, s.home, strings.Join(s.folders(), " "))
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.c.ctx), 20*time.Second)
	defer cancel()
	// Without the daemon no further window opens; what still ran in one may have started it again.
	return errors.Join(s.endDaemon(ctx), s.endServer(ctx), s.endDaemon(ctx), os.RemoveAll(s.dir), os.RemoveAll(s.project))
}

// folders are what a demo leaves when it is kept; the built-in agent's project lies in the first.
func (s *stage) folders() []string {
	if filepath.Dir(s.project) == s.dir {
		return []string{s.dir}
	}
	return []string{s.dir, shellWord(s.project)}
}

func (s *stage) endDaemon(ctx context.Context) error {
	if _, err := os.Stat(s.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "down")
	cmd.Env = append(s.childEnv(), "ST_HOME="+s.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("st down: %w: %s", err, out)
	}
	return nil
}

// endServer ends the demo's own server and waits until all that ran in its panes is gone.
func (s *stage) endServer(ctx context.Context) error {
	if s.server.PID == 0 {
		return nil
	}
	panes, err := tmux.At(s.socket).Panes(ctx)
	if err != nil {
		return err
	}
	var running []proc.Process
	for _, p := range panes {
		running = append(running, family(p.PID)...)
	}
	if err := tmux.At(s.socket).KillServer(ctx, s.server); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for slices.ContainsFunc(running, proc.Alive) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not all of the demo's panes have ended: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// family is a process and all below it, as far as they still run.
func family(pid int) []proc.Process {
	one, err := proc.Of(pid)
	if err != nil {
		return nil
	}
	all := []proc.Process{one}
	below, err := proc.Tree(pid)
	if err != nil {
		return all // it has ended just now
	}
	for _, info := range below {
		all = append(all, info.Process)
	}
	return all
}

func (s *stage) tell(format string, args ...any) error {
	if s.c.out.json {
		return nil
	}
	return s.c.out.say(format, args...)
}

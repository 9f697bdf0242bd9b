//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"st/hooks"
	"st/orch/proc/proctest"
)

func TestMain(m *testing.M) { testscript.Main(tidy{m}, map[string]func(){"st": main}) }

// tidy removes what tests of the package share.
type tidy struct{ m *testing.M }

// shared is a folder that goes with the last test; "" for none.
var shared string

func (t tidy) Run() int {
	code := t.m.Run()
	if err := os.RemoveAll(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// limit is how long a script waits for anything before it fails with what it saw last.
const limit = 30 * time.Second

// scriptLimit is how long one script may take in all.
const scriptLimit = 90 * time.Second

const tick = 60 * time.Millisecond

// TestScript runs testdata/script: each script has a tmux server, a HOME, an ST_HOME and a daemon of its own.
// st stands for this test binary under that name.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("scripts need tmux and minutes")
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setUp,
		RequireUniqueNames: true,
		Condition:          condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"tmux": cmdTmux, "session": cmdSession, "inpane": cmdInPane, "screen": cmdScreen, "person": cmdPerson,
			"killdaemon": signalDaemon(syscall.SIGKILL), "stopdaemon": signalDaemon(syscall.SIGSTOP),
			"contdaemon": signalDaemon(syscall.SIGCONT),
			"code":       cmdCode, "eventually": cmdEventually, "json": cmdJSON, "outside": cmdOutside, "big": cmdBig,
			"interrupt": cmdInterrupt, "storm": cmdStorm, "byhand": cmdByHand, "quiet": cmdQuiet, "control": cmdControl, "stray": cmdStray,
		},
	})
}

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

func setUp(env *testscript.Env) error {
	dir, err := os.MkdirTemp("/tmp", "st-s")
	if err != nil {
		return err
	}
	b := &bench{dir: dir, people: map[string]*os.File{}}
	b.socket = filepath.Join(dir, "t", fmt.Sprintf("tmux-%d", os.Getuid()), "default")
	for _, d := range []string{"home", filepath.Dir(b.socket)} {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	env.Values[benchKey{}] = b
	for name, value := range map[string]string{
		"HOME": filepath.Join(dir, "home"), "ST_HOME": filepath.Join(dir, "st"), "TMUX_TMPDIR": filepath.Join(dir, "t"),
		"TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/sh", "PS1": "$ ", "BENCH": dir,
	} {
		env.Setenv(name, value)
	}
	// Whatever a script waits for in vain ends with it, so that one fault doesn't cost the others their time.
	watchdog := time.AfterFunc(scriptLimit, b.kill)
	env.Defer(func() {
		watchdog.Stop()
		if err := b.end(env.Getenv("ST_HOME")); err != nil {
			env.T().Fatal(err)
		}
	})
	return nil
}

func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Getuid() == 0, nil
	case "proc":
		_, err := os.Stat("/proc/self/environ")
		return err == nil, nil
	case "long":
		return os.Getenv("ST_LONG") != "", nil
	}
	return false, fmt.Errorf("no condition is called %q", cond)
}

// kill ends all processes of the script.
func (b *bench) kill() {
	for _, pid := range b.processes() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
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
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(tick) {
		left := b.processes()
		if len(left) == 0 || time.Now().After(until) {
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

// poll waits until a condition holds.
func poll(ts *testscript.TestScript, what string, is func() (ok bool, saw string)) {
	for end := time.Now().Add(limit); ; time.Sleep(tick) {
		ok, saw := is()
		if ok {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("not within %v: %s; seen last:\n%s", limit, what, saw)
		}
	}
}

// run runs tmux on the script's own server.
func (b *bench) run(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", b.socket}, args...)...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), b.env(ts)
	out, err := cmd.CombinedOutput()
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

// tmux ARGS…: one command on the script's own server.
func cmdTmux(ts *testscript.TestScript, neg bool, args []string) {
	out, err := benchOf(ts).run(ts, args...)
	fmt.Fprintln(ts.Stdout(), out)
	if (err != nil) != neg {
		ts.Fatalf("tmux: %v", err)
	}
}

// session NAME [WxH]: a session with a shell, from whose pane the script then speaks. tmux.conf of the script
// is the server's configuration.
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: session NAME [WxH]")
	}
	b := benchOf(ts)
	config := ts.MkAbs("tmux.conf")
	if _, err := os.Stat(config); err != nil {
		config = "/dev/null"
	}
	width, height := "80", "24"
	if len(args) == 2 {
		width, height, _ = strings.Cut(args[1], "x")
	}
	out := ""
	poll(ts, "a server starts", func() (bool, string) { // while one that was killed is just ending at the socket, none does
		var err error
		out, err = b.run(ts, "-f", config, "new-session", "-d", "-s", args[0], "-x", width, "-y", height, "-c", ts.Getenv("WORK"),
			"-P", "-F", "#{pid} #{pane_id}", "sh", "-i") // one word alone would go through the default shell
		if err != nil && !strings.Contains(out, "server exited") && !strings.Contains(out, "no server running") && !strings.Contains(out, "lost server") {
			ts.Check(err)
		}
		return err == nil, out
	})
	pid, pane, _ := strings.Cut(out, " ")
	n, err := strconv.Atoi(pid)
	ts.Check(err)
	b.pids = append(b.pids, n)
	ts.Setenv("TMUX", b.socket+","+pid+",0")
	ts.Setenv("TMUX_PANE", pane)
}

// outside: speak from outside tmux.
func cmdOutside(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("TMUX", "")
	ts.Setenv("TMUX_PANE", "")
}

// inpane SESSION CODE CMD…: type a command into the shell of the session's first pane, wait for its end and
// want that exit code.
func cmdInPane(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: inpane SESSION CODE CMD…")
	}
	b := benchOf(ts)
	typeIn(ts, paneOf(ts, args[0]), args, func(pane, line string) {
		_, err := b.run(ts, "send-keys", "-t", pane, line, "Enter")
		ts.Check(err)
	})
}

// byhand SESSION CODE CMD…: the same, typed by a person at a terminal that is attached to the session.
func cmdByHand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: byhand SESSION CODE CMD…")
	}
	cmdPerson(ts, false, args[:1])
	poll(ts, "a key is pressed in "+args[0], func() (bool, string) { // one in the second of the attaching can't be told from none
		_, err := io.WriteString(benchOf(ts).people[args[0]], " ")
		ts.Check(err)
		out, err := benchOf(ts).run(ts, "list-clients", "-t", "="+args[0], "-F", "control #{client_control_mode} pressed #{e|>:#{client_activity},#{client_created}}")
		return err == nil && strings.Contains(out, "control 0 pressed 1"), out
	})
	pane, err := benchOf(ts).run(ts, "display-message", "-p", "-t", "="+args[0]+":", "#{pane_id}")
	ts.Check(err)
	typeIn(ts, pane, args, func(_, line string) {
		_, err := io.WriteString(benchOf(ts).people[args[0]], "\x15"+line+"\r") // whatever stands there goes
		ts.Check(err)
	})
}

// stray SESSION NAME [ARGS…]: the built-in agent as a person starts it by hand, with our hooks in its settings, in a window of
// that name; then wait until the daemon has heard of it and its input line stands.
func cmdStray(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: stray SESSION NAME [ARGS…]")
	}
	dir := filepath.Join(benchOf(ts).dir, "stray-"+args[1])
	ts.Check(os.MkdirAll(dir, 0o700))
	kind, err := hooks.Lookup("demo")
	ts.Check(err)
	self, err := lookIn(ts.Getenv("PATH"), "st")
	ts.Check(err)
	launch, err := kind.Launch(hooks.Spec{Self: self, Scratch: dir, Args: args[2:]})
	ts.Check(err)
	for path, text := range launch.Files {
		ts.Check(os.WriteFile(path, text, 0o600))
	}
	pane, err := benchOf(ts).run(ts, append([]string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=" + args[0] + ":", "-n", args[1], "-c", ts.Getenv("WORK")}, launch.Argv...)...)
	ts.Check(err)
	poll(ts, "the daemon hears of "+args[1], func() (bool, string) {
		ts.Check(ts.Exec("st", "agents", "--json"))
		out := ts.ReadFile("stdout")
		return strings.Contains(out, `"pane":"`+pane+`"`), out
	})
	cmdScreen(ts, false, []string{pane, "^❯"})
}

// quiet SESSION: wait until nobody has pressed a key there for longer than counts as a moment ago.
func cmdQuiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: quiet SESSION")
	}
	poll(ts, "nobody presses a key in "+args[0], func() (bool, string) {
		out, err := benchOf(ts).run(ts, "list-clients", "-t", "="+args[0], "-F", "#{client_control_mode} #{client_activity}")
		late, people := true, 0
		for _, row := range strings.Split(out, "\n") {
			if control, at, _ := strings.Cut(row, " "); control != "1" {
				people++
				last, bad := strconv.ParseInt(at, 10, 64)
				late = late && bad == nil && time.Now().Unix()-last > 6
			}
		}
		return err == nil && late && people > 0, out
	})
}

// control SESSION: a program attaches to the session in control mode.
func cmdControl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: control SESSION")
	}
	b := benchOf(ts)
	cmd := exec.Command("tmux", "-u", "-S", b.socket, "-C", "attach-session", "-t", "="+args[0])
	cmd.Env = b.env(ts)
	in, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { in.Close(); cmd.Wait() }) //nolint:errcheck // it ends as it likes
	poll(ts, "a control client is attached to "+args[0], func() (bool, string) {
		out, err := b.run(ts, "list-clients", "-F", "#{client_control_mode} #{session_name}")
		return err == nil && strings.Contains(out, "1 "+args[0]), out
	})
}

// typeIn has a command typed into a pane, waits for its end and wants an exit code; args are those of inpane.
func typeIn(ts *testscript.TestScript, pane string, args []string, typed func(pane, line string)) {
	b := benchOf(ts)
	b.panes++
	base := filepath.Join(b.dir, fmt.Sprintf("pane%d", b.panes))
	words := make([]string, len(args)-2)
	for i, w := range args[2:] {
		words[i] = shellWord(w)
	}
	script := fmt.Sprintf("%s >%[2]s.out 2>%[2]s.err\necho $? >%[2]s.tmp; mv %[2]s.tmp %[2]s.code\n", strings.Join(words, " "), base)
	ts.Check(os.WriteFile(base+".sh", []byte(script), 0o600))
	typed(pane, ". "+base+".sh")
	poll(ts, strings.Join(args[2:], " ")+" ends", func() (bool, string) {
		_, err := os.Stat(base + ".code")
		screen, _ := b.run(ts, "capture-pane", "-p", "-t", pane)
		return err == nil, screen
	})
	show(ts, ts.Stdout(), base+".out")
	show(ts, ts.Stderr(), base+".err")
	if got := strings.TrimSpace(ts.ReadFile(base + ".code")); got != args[1] {
		ts.Fatalf("exit code %s, not %s", got, args[1])
	}
}

func show(ts *testscript.TestScript, w io.Writer, path string) {
	_, err := io.WriteString(w, ts.ReadFile(path))
	ts.Check(err)
}

// paneOf finds a pane by id, by its window's name, or by its session's name.
func paneOf(ts *testscript.TestScript, name string) string {
	if strings.HasPrefix(name, "%") {
		return name
	}
	var pane string
	poll(ts, "there is a window or session "+name, func() (bool, string) {
		out, err := benchOf(ts).run(ts, "list-panes", "-a", "-F", "#{pane_id}\t#{window_name}\t#{session_name}")
		if err != nil {
			return false, err.Error()
		}
		for _, column := range []int{1, 2} {
			for _, row := range strings.Split(out, "\n") {
				if cells := strings.Split(row, "\t"); len(cells) > column && cells[column] == name {
					pane = cells[0]
					return true, ""
				}
			}
		}
		return false, out
	})
	return pane
}

// screen PANE REGEX: wait until the screen shows that.
func cmdScreen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: screen PANE REGEX")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	pane := paneOf(ts, args[0])
	if neg {
		out, err := benchOf(ts).run(ts, "capture-pane", "-p", "-J", "-t", pane)
		ts.Check(err)
		if re.MatchString(out) {
			ts.Fatalf("the screen of %s shows %q:\n%s", args[0], args[1], out)
		}
		return
	}
	poll(ts, "the screen of "+args[0]+" shows "+args[1], func() (bool, string) {
		out, err := benchOf(ts).run(ts, "capture-pane", "-p", "-J", "-t", pane)
		if err != nil {
			return false, err.Error()
		}
		return re.MatchString(out), out
	})
}

// person SESSION [KEYS…]: somebody attached to the session presses keys; \r, \x02 and the like as in Go.
func cmdPerson(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: person SESSION [KEYS…]")
	}
	b := benchOf(ts)
	tty := b.people[args[0]]
	if tty == nil {
		tty = b.attach(ts, args[0])
	}
	for _, keys := range args[1:] {
		text, err := strconv.Unquote(`"` + keys + `"`)
		ts.Check(err)
		_, err = io.WriteString(tty, text)
		ts.Check(err)
	}
}

func (b *bench) attach(ts *testscript.TestScript, session string) *os.File {
	cmd := exec.Command("tmux", "-u", "-S", b.socket, "attach-session", "-t", "="+session)
	cmd.Env = b.env(ts)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	ts.Check(err)
	go io.Copy(io.Discard, tty) // a client that isn't read stalls
	go cmd.Wait()
	b.people[session] = tty
	poll(ts, "a person is attached to "+session, func() (bool, string) {
		out, err := b.run(ts, "list-clients", "-F", "#{session_name}")
		return err == nil && strings.Contains(out, session), out
	})
	return tty
}

// killdaemon, stopdaemon, contdaemon.
func signalDaemon(sig syscall.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		pid := daemonPID(ts.Getenv("ST_HOME"))
		if pid == 0 || !benchOf(ts).owns(pid) {
			ts.Fatalf("no daemon of this script runs")
		}
		if sig == syscall.SIGSTOP {
			ts.Check(proctest.Stop(pid))
			return
		}
		ts.Check(syscall.Kill(pid, sig))
		if sig != syscall.SIGKILL {
			return
		}
		poll(ts, "the daemon is gone", func() (bool, string) {
			return !benchOf(ts).owns(pid), describe([]int{pid})
		})
	}
}

// code N CMD…: run a command and want that exit code.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD…")
	}
	if got := execCode(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, not %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func execCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// eventually REGEX CMD…: run a command until it ends with 0 and its stdout matches.
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually REGEX CMD…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	poll(ts, strings.Join(args[1:], " ")+" says "+args[0], func() (bool, string) {
		code := execCode(ts, args[1:])
		out := ts.ReadFile("stdout")
		return code == 0 && re.MatchString(out), fmt.Sprintf("exit %d\n%s%s", code, out, ts.ReadFile("stderr"))
	})
}

// big FILE N: a file of N bytes of text.
func cmdBig(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: big FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)), 0o600))
}

// interrupt NAME: Ctrl-C for a command that was started with &NAME&. What it printed is then on stdout and
// stderr; its exit code is in the script's own hands.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
}

// storm N CODE CMD…: the same command N times at once; each must end with that code. # in an argument becomes
// the number.
func cmdStorm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: storm N CODE CMD…")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	faults := make(chan string, n)
	var all sync.WaitGroup
	env := append(benchOf(ts).env(ts), "TMUX="+ts.Getenv("TMUX"), "TMUX_PANE="+ts.Getenv("TMUX_PANE"))
	program, err := lookIn(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	for i := range n {
		argv := make([]string, len(args)-3)
		for k, a := range args[3:] {
			argv[k] = strings.ReplaceAll(a, "#", strconv.Itoa(i+1))
		}
		all.Go(func() {
			cmd := exec.Command(program, argv...)
			cmd.Dir, cmd.Env = ts.Getenv("WORK"), env
			out, err := cmd.CombinedOutput()
			if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[1] {
				faults <- fmt.Sprintf("%q: exit %s: %v\n%s", argv, got, err, out)
			}
		})
	}
	all.Wait()
	close(faults)
	for f := range faults {
		ts.Fatalf("%s", f)
	}
}

func lookIn(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: not in PATH", name)
}

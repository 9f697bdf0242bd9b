//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"st/hooks"
	"st/tmux/tmuxtest"
)

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
	cmdAwake(ts, false, args[:1])
	pane, err := benchOf(ts).run(ts, "display-message", "-p", "-t", "="+args[0]+":", "#{pane_id}")
	ts.Check(err)
	typeIn(ts, pane, args, func(_, line string) {
		_, err := io.WriteString(benchOf(ts).people[args[0]], "\x15"+line+"\r") // whatever stands there goes
		ts.Check(err)
	})
}

// awake SESSION: a person presses the space bar there until a key is known to be one: in the second of the attaching it can't be
// told from none.
func cmdAwake(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: awake SESSION")
	}
	cmdPerson(ts, false, args)
	poll(ts, "a key is pressed in "+args[0], func() (bool, string) {
		_, err := io.WriteString(benchOf(ts).people[args[0]], " ")
		ts.Check(err)
		out, err := benchOf(ts).run(ts, "list-clients", "-t", "="+args[0], "-F", "control #{client_control_mode} pressed #{e|>:#{client_activity},#{client_created}}")
		return err == nil && strings.Contains(out, "control 0 pressed 1"), out
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
	tty, err := tmuxtest.Terminal(b.env(ts), 80, 24, "tmux", "-u", "-S", b.socket, "attach-session", "-t", "="+session)
	ts.Check(err)
	go io.Copy(io.Discard, tty) // a client that isn't read stalls
	b.people[session] = tty
	poll(ts, "a person is attached to "+session, func() (bool, string) {
		out, err := b.run(ts, "list-clients", "-F", "#{session_name}")
		return err == nil && strings.Contains(out, session), out
	})
	return tty
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"st/hooks"
	"st/tmux"
	"st/tmux/tmuxtest"
)

// chief is a coordinator: the built-in agent, started by hand in a window of its own, with our hooks in its settings.
// What the test does to it is done by keys, as a person or a script would.
type chief struct {
	d      *desk
	dir    string // its settings and its transcripts
	pane   string
	argv   string
	tokens int
}

// newChief opens its window in a session and starts it there.
func newChief(d *desk, session string) *chief {
	c := &chief{d: d, dir: filepath.Join(d.server.Dir(), "chief")}
	kind, err := hooks.Lookup("demo")
	if err != nil {
		d.t.Fatal(err)
	}
	launch, err := kind.Launch(hooks.Spec{Self: d.bin, Scratch: c.dir, Args: []string{"--log", d.log("chief")}})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	for path, text := range launch.Files {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	c.argv = strings.Join(launch.Argv, " ")
	c.pane = d.server.Run("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "="+session+":", "-n", "chief", "-c", c.dir,
		"-e", "ST_HOME="+d.home, "-e", "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"), "-e", "PS1="+shellWaits, "sh", "-i") // two words: one alone would be given to a shell
	c.open("")
	return c
}

// shellWaits stands where the shell of its window waits for a line.
const shellWaits = "shell: "

// keyTime is how long a key is waited for before it is pressed again.
const keyTime = 500 * time.Millisecond

// open starts the agent at the shell of its window: with a conversation, or with a new one. A terminal that a killed
// one leaves behind is put right.
func (c *chief) open(conversation string) {
	line := "clear; " + c.argv
	if conversation != "" {
		line += " --resume " + conversation
	}
	c.d.hopeful("the shell waits for a line", func() bool {
		v := c.view()
		return !v.Alternate && v.CursorY < len(v.Rows) && strings.HasPrefix(tmuxtest.Plain(v.Rows[v.CursorY]), strings.TrimSpace(shellWaits))
	})
	// A program that is killed leaves the terminal not blocking, where the shell has the same open file.
	c.keys("-l", line+` </dev/tty; stty sane; printf '\033[?1049l\033[?2004l'`)
	c.keys("Enter")
	c.d.hopeful("the coordinator shows its input line", func() bool { return c.screen().Name == hooks.Ready })
}

func (c *chief) keys(keys ...string) {
	c.d.server.Run(append([]string{"send-keys", "-t", c.pane}, keys...)...)
}

func (c *chief) view() tmux.View {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	views, err := c.d.server.Tmux().Look(ctx, c.pane)
	if err != nil {
		c.d.t.Error(err)
	}
	return views[c.pane]
}

// screen is what stands in its window.
func (c *chief) screen() hooks.Screen {
	kind, err := hooks.Lookup("demo")
	if err != nil {
		c.d.t.Fatal(err)
	}
	v := c.view()
	return kind.Look(hooks.View{Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible, Alternate: v.Alternate, Width: v.Width, Height: v.Height})
}

// token is a word that no other prompt has.
func (c *chief) token() string {
	c.tokens++
	return fmt.Sprintf("c%dz", c.tokens)
}

// prompt types a line and enters it, whatever else comes into the input line meanwhile: token is what tells it from
// all others. What stood there before is wiped out first, as somebody would who wants the line for themselves.
func (c *chief) prompt(line, token string) bool {
	before := len(c.d.submitted("chief"))
	entered := func() bool {
		for _, j := range c.d.submitted("chief")[before:] {
			if strings.Contains(j.Text, token) {
				return true
			}
		}
		return false
	}
	typed, odd := time.Time{}, time.Time{}
	return c.d.hopeful("the coordinator takes "+line, func() bool {
		if entered() {
			return true
		}
		s := c.screen()
		switch {
		case s.Name != hooks.Ready:
		case strings.Contains(s.Draft, squashed(token)) || strings.Contains(s.Draft, token):
			c.keys("Enter")
			within(keyTime, entered)
		case s.Draft == "" && time.Since(typed) > time.Second:
			c.keys("-l", line)
			typed, odd = time.Now(), time.Time{}
		case s.Draft != "" && odd.IsZero():
			odd = time.Now()
		case s.Draft != "" && time.Since(odd) > time.Second:
			c.keys("C-e", "C-u")
			odd = time.Time{}
		}
		return entered()
	})
}

func squashed(s string) string { return strings.ReplaceAll(s, " ", "") }

// say has it take a prompt that can be told from all others.
func (c *chief) say(rest string) (token string) {
	token = c.token()
	c.prompt("say "+token+rest, token)
	return token
}

// interrupt presses Esc once, where a turn is shown to run.
func (c *chief) interrupt() bool {
	if s := c.screen(); s.Name != hooks.Ready || !s.Working {
		return false
	}
	c.keys("Escape")
	return true
}

// tidy wipes out what an interrupted turn has put back into the input line, or enters it once more.
func (c *chief) tidy(again bool) {
	s := c.screen()
	if s.Name != hooks.Ready || s.Draft == "" {
		return
	}
	if again {
		c.keys("Enter")
		return
	}
	c.keys("C-e", "C-u")
}

// transcripts are the files of its conversations, the newest last.
func (c *chief) transcripts() []string {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.jsonl")) // the pattern is well-formed
	slices.SortFunc(files, func(a, b string) int {
		x, errA := os.Stat(a)
		y, errB := os.Stat(b)
		if errA != nil || errB != nil {
			return 0
		}
		return x.ModTime().Compare(y.ModTime())
	})
	return files
}

// pid is the agent's process: the child of the shell in its window.
func (c *chief) pid() int {
	for _, pid := range children(c.view().PanePID) {
		return pid
	}
	return 0
}

// leave ends it by /exit, or by a kill, and takes its conversation up again in the same pane.
func (c *chief) leave(kill bool) {
	files := c.transcripts()
	if len(files) == 0 {
		return
	}
	conversation := strings.TrimSuffix(filepath.Base(files[len(files)-1]), ".jsonl")
	pid := c.pid()
	if kill {
		c.d.killOne(c.pid)
	} else {
		c.exit()
	}
	c.d.hopeful("the coordinator has ended", func() bool { return c.pid() != pid })
	c.open(conversation)
}

// exit has it take /exit. What stands there and is not taken is wiped out.
func (c *chief) exit() {
	before := len(c.d.submitted("chief"))
	left := func() bool {
		return slices.ContainsFunc(c.d.submitted("chief")[before:], func(j jotted) bool { return j.Text == "/exit" })
	}
	c.d.hopeful("the coordinator leaves", func() bool {
		if left() {
			return true
		}
		s := c.screen()
		switch {
		case s.Name != hooks.Ready:
		case s.Draft == "":
			c.keys("-l", "/exit")
			within(keyTime, func() bool { return c.screen().Draft == "/exit" })
		case s.Draft == "/exit":
			c.keys("Enter")
			within(keyTime, left)
		case !within(6*keyTime, func() bool { return c.screen().Draft != s.Draft }):
			c.keys("C-e", "C-u")
		}
		return left()
	})
}

// clear begins a new conversation, and sees it to its first line: before that there is nothing to be resumed.
func (c *chief) clear() {
	c.prompt("/clear", "/clear")
	token := c.say("")
	c.d.hopeful("the new conversation has a line", func() bool {
		return slices.ContainsFunc(c.heard("prompt"), func(text string) bool { return strings.Contains(text, token) })
	})
}

// heard are texts of some kinds that have reached its model, and been taken back from it, by its own log.
func (c *chief) heard(whats ...string) (texts []string) {
	for _, j := range c.d.jotted("chief") {
		if slices.Contains(whats, j.What) {
			texts = append(texts, j.Text)
		}
	}
	return texts
}

// toldIn counts what its texts tell of each worker: by "w5 finished".
func toldIn(texts []string) map[string]int {
	count := map[string]int{}
	for _, text := range texts {
		for _, line := range sentences["news"].FindAllStringSubmatch(text, -1) {
			for _, part := range strings.Split(line[1], "; ") {
				ids, what := newsPart(part)
				for _, w := range ids {
					count[w+" "+what]++
				}
			}
		}
	}
	return count
}

package tmux_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"st/tmux"
	"st/tmux/tmuxtest"
)

// The test binary is also the program that is typed into: a composer in raw mode with bracketed paste, as the
// agents have one. ST_TEST_COMPOSER holds its ways, ST_TEST_LOG the file that gets a line for each one sent.
func TestMain(m *testing.M) {
	if ways, ok := os.LookupEnv("ST_TEST_COMPOSER"); ok {
		if err := compose(ways, os.Getenv("ST_TEST_LOG")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type composer struct {
	in      *bufio.Reader
	draft   []rune
	log     string
	swallow int    // how many Enters do nothing
	dialog  bool   // shows a dialog once a line is sent
	show    string // "": draws the draft; "never": doesn't
	slow    time.Duration
	freeze  time.Duration // for how long it hangs on the first Enter, before it takes it
	pasting bool
}

func compose(ways, log string) error {
	old, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), old)
	c := &composer{in: bufio.NewReader(os.Stdin), log: log}
	for _, way := range strings.Fields(ways) {
		name, value, _ := strings.Cut(way, "=")
		switch name {
		case "swallow":
			if c.swallow, err = strconv.Atoi(value); err != nil {
				return err
			}
		case "dialog":
			c.dialog = true
		case "hidden":
			c.show = "never"
		case "freeze":
			if c.freeze, err = time.ParseDuration(value); err != nil {
				return err
			}
		case "slow":
			if c.slow, err = time.ParseDuration(value); err != nil {
				return err
			}
		}
	}
	fmt.Print("\x1b[?1049h\x1b[?2004h")
	c.draw()
	for {
		r, _, err := c.in.ReadRune()
		if err != nil {
			return nil
		}
		if stop, err := c.key(r); stop || err != nil {
			return err
		}
		if c.in.Buffered() == 0 && !c.pasting {
			time.Sleep(c.slow) // a slow program is what is played here, not waited for
			c.draw()
		}
	}
}

func (c *composer) key(r rune) (stop bool, err error) {
	switch {
	case r == '\x1b':
		return false, c.sequence()
	case r == '\r' && c.swallow > 0:
		c.swallow--
	case r == '\r' && len(c.draft) == 0:
	case r == '\r':
		time.Sleep(c.freeze) // as above
		c.freeze = 0
		return c.send()
	case r == '\x15':
		c.draft = nil
	case r == '\x7f' && len(c.draft) > 0:
		c.draft = c.draft[:len(c.draft)-1]
	case r >= ' ' && r != '\x7f':
		c.draft = append(c.draft, r)
	}
	return false, nil
}

// sequence reads a CSI sequence; only those around a paste mean something.
func (c *composer) sequence() error {
	var seq []rune
	for {
		r, _, err := c.in.ReadRune()
		if err != nil {
			return err
		}
		seq = append(seq, r)
		if len(seq) > 1 && (r == '~' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			break
		}
	}
	c.pasting = string(seq) == "[200~"
	return nil
}

func (c *composer) send() (stop bool, err error) {
	f, err := os.OpenFile(c.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintln(f, string(c.draft))
	stop = string(c.draft) == "/quit"
	c.draft = nil
	if c.dialog {
		c.show = "dialog"
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return stop, err
}

func (c *composer) draw() {
	switch c.show {
	case "dialog":
		fmt.Print("\x1b[H\x1b[J? Really do this\r\n  yes / no")
	case "never":
		fmt.Print("\x1b[H\x1b[Jcomposer\r\n> ")
	default:
		fmt.Print("\x1b[H\x1b[J\x1b[1mcomposer\x1b[0m\r\n> " + string(c.draft))
	}
}

// read is what Typing.Read is for this composer.
func read(v tmux.View) (draft string, ready bool, why string) {
	for i, row := range v.Rows {
		row = tmuxtest.Plain(row)
		if strings.HasPrefix(row, "? ") {
			return "", false, "question"
		}
		if rest, ok := strings.CutPrefix(row+" ", "> "); ok { // tmux cuts blanks at a row's end
			for _, more := range v.Rows[i+1:] {
				rest += tmuxtest.Plain(more)
			}
			return rest, true, ""
		}
	}
	return "", false, "unknown"
}

// target is a pane with a composer in it.
type target struct {
	*tmuxtest.Server
	t    testing.TB
	pane tmux.Pane
	log  string
}

func newTarget(t testing.TB, ways string) *target {
	t.Helper()
	s := tmuxtest.New(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := s.Dir() + "/log"
	env := []string{"ST_TEST_COMPOSER=" + ways, "ST_TEST_LOG=" + log}
	s.Session("main")
	p, err := s.Tmux().Open(t.Context(), tmux.Open{
		Session: "$0", Name: "target", Dir: s.Dir(), Tag: "h:w1", Argv: []string{self, "composer"}, Env: env,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.WaitScreen(p.ID, "shows a composer", func(v tmux.View) bool { _, ready, _ := read(v); return ready })
	return &target{Server: s, t: t, pane: p, log: log}
}

// sent are the lines that the composer has taken.
func (g *target) sent() []string {
	g.t.Helper()
	b, err := os.ReadFile(g.log)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func (g *target) waitDraft(want string) {
	g.t.Helper()
	g.WaitScreen(g.pane.ID, fmt.Sprintf("has %q in its line", want), func(v tmux.View) bool {
		draft, ready, _ := read(v)
		return ready && strings.TrimSpace(draft) == want
	})
}

func (g *target) typing(text string) tmux.Typing {
	return tmux.Typing{Server: g.Identity(), Tag: "h:w1", Text: text, Read: read}
}

func (g *target) typeLine(o tmux.Typing) tmux.Typed {
	g.t.Helper()
	return g.typeUnder(g.t.Context(), o)
}

// typeWithin types for so long at most.
func (g *target) typeWithin(limit time.Duration, o tmux.Typing) tmux.Typed {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), limit)
	defer cancel()
	return g.typeUnder(ctx, o)
}

func (g *target) typeUnder(ctx context.Context, o tmux.Typing) tmux.Typed {
	g.t.Helper()
	typed, err := g.Tmux().Type(ctx, g.pane.ID, o)
	if err != nil {
		g.t.Fatal(err)
	}
	return typed
}

//go:build linux || darwin

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/tmux"
	"st/tmux/tmuxtest"
)

// seat is a coordinator that a person has started by hand at a shell in tmux, with st's hooks in its settings.
type seat struct {
	*desk
	kind hooks.Kind
	name string
	pane string
	ear  *ear
	// person looks at the seat's window and types there.
	person *tmuxtest.Person
}

// newSeat opens a coordinator of a kind and lets it begin a run. What prepare does is done before the agent starts.
func newSeat(t *testing.T, name string, prepare ...func(*desk)) *seat {
	b := newDesk(t)
	for _, p := range prepare {
		p(b)
	}
	kind, err := hooks.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{desk: b, kind: kind, name: name}
	s.hear()
	if name == "claude" {
		b.allow("default", "Bash(python3:*)")
		b.install("claude", "--allow")
	} else {
		b.install("codex", "--trust-codex", "--allow")
	}
	b.tmux.Run("set-option", "-g", "default-size", "120x40")
	b.st("up")
	s.pane = s.shell()
	s.person = b.tmux.Attach("desk", 120, 40)
	b.tmux.Run("select-window", "-t", s.pane)
	s.begin(name)
	return s
}

// hear puts an ear between the agents of the seat's kind and their model.
func (s *seat) hear() {
	s.t.Helper()
	s.ear = newEar("127.0.0.1:" + os.Getenv("ST_BENCH_PORT"))
	s.t.Cleanup(s.ear.Close)
	for _, k := range soakKinds {
		if k.name == s.name {
			script, err := os.ReadFile(filepath.Join(s.home, "bin", s.name))
			if err != nil {
				s.t.Fatal(err)
			}
			s.program(s.name, k.launcher(string(script), s.ear.Listener.Addr().String()))
		}
	}
}

// shell opens a window with a person's shell.
func (s *seat) shell() (pane string) {
	s.t.Helper()
	session, err := s.tmux.Tmux().FindSession(context.Background(), "desk")
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := s.tmux.Tmux().Open(context.Background(), tmux.Open{
		Session: session.ID, Name: "seat", Dir: s.dir,
		Argv: []string{"env", "HOME=" + s.home, "PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH"), "PS1=$ ", "bash", "--norc", "--noprofile"},
		Env:  []string{"ST_HOME=" + s.stHome, "TERM=tmux-256color"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.tmux.WaitText(p.ID, "$")
	return p.ID
}

// begin starts the agent at the shell and waits for its input line.
func (s *seat) begin(command string) {
	s.t.Helper()
	s.person.Type(command + "\r")
	s.tmux.WaitScreen(s.pane, "an input line", s.ready)
}

func (s *seat) look(v tmux.View) hooks.Screen {
	return s.kind.Look(hooks.View{Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible, Alternate: v.Alternate, Width: v.Width, Height: v.Height})
}

func (s *seat) ready(v tmux.View) bool {
	l := s.look(v)
	return l.Name == hooks.Ready && l.Draft == "" && !l.Popup
}

// view is what the seat's pane shows.
func (s *seat) view() tmux.View {
	s.t.Helper()
	views, err := s.tmux.Tmux().Look(context.Background(), s.pane)
	if err != nil {
		s.t.Fatal(err)
	}
	return views[s.pane]
}

// resumed is how each program says to take a conversation up again.
var resumed = regexp.MustCompile(`(claude --resume|codex resume) [0-9a-f]{8}-[0-9a-f-]{27}`)

// again ends the agent and starts it again with its conversation, in the same pane.
func (s *seat) again() {
	s.t.Helper()
	s.line("/exit")
	var command string
	s.await(60*time.Second, "the agent says how it is taken up again", func() (bool, string) {
		text := s.said(s.pane)
		command = resumed.FindString(text)
		return command != "" && strings.HasSuffix(strings.TrimSpace(text), "$"), text
	})
	s.person.Type("clear\r")
	s.begin(command)
}

// line types a text and submits it when it stands there. Where st had just begun a line of its own, they wipe both out
// and begin again.
func (s *seat) line(text string) {
	s.t.Helper()
	for {
		s.person.Type(text)
		v := s.tmux.WaitScreen(s.pane, "an input line with "+text, func(v tmux.View) bool { return strings.HasSuffix(squashed(s.look(v).Draft), squashed(text)) })
		if s.look(v).Draft == text {
			break
		}
		s.t.Logf("st had begun a line: %s", s.look(v).Draft)
		s.await(10*time.Second, "the line is wiped out", func() (bool, string) {
			s.person.Type("\x15")
			hold(200 * time.Millisecond)
			return s.look(s.view()).Draft == "", s.said(s.pane)
		})
	}
	s.person.Type("\r")
}

// squashed leaves out white space: where a row is full the screen does not tell a space from none.
func squashed(text string) string { return strings.Join(strings.Fields(text), "") }

// asks gives the coordinator a script as a file and waits until its model has been asked.
func (s *seat) asks(name string, lines ...string) {
	s.t.Helper()
	before := s.ear.requests("main")
	s.write(name, strings.Join(lines, "\n")+"\n")
	s.line("do " + name)
	s.await(60*time.Second, "the model is asked to do "+name, func() (bool, string) { return s.ear.requests("main") > before, s.said(s.pane) })
}

// rests waits until no turn runs, by what the model was asked and what the screen shows.
func (s *seat) rests() {
	s.t.Helper()
	s.await(60*time.Second, "the coordinator rests", func() (bool, string) {
		quiet, v := s.ear.quiet(), s.view()
		return quiet && s.ready(v) && !s.look(v).Working, s.said(s.pane)
	})
}

// events are what the journal says, of these types; of all where none is named.
func (b *desk) events(types ...string) []orch.Event {
	b.t.Helper()
	ctx := context.Background()
	c, err := daemon.Dial(ctx, b.stHome, daemon.From{})
	if err != nil {
		b.t.Fatal(err)
	}
	var log orch.HistoryInfo
	if err := c.Get(ctx, "history", orch.EventArgs{Types: types}, &log); err != nil {
		b.t.Fatal(err)
	}
	return log.Events
}

// agrees waits until so much has been told, and holds the journal and what the model was asked against each other.
func (s *seat) agrees(want int) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Log(s.record())
		}
	}()
	s.await(60*time.Second, fmt.Sprintf("%d news are told", want), func() (bool, string) {
		heard := 0
		for _, n := range s.ear.heard() {
			heard += n
		}
		return heard >= want && len(s.events("news-told")) >= want, s.record()
	})
	j, heard := s.journal(), s.ear.heard()
	for n, times := range j.owed {
		if j.told[n] != times || heard[n] != times {
			s.t.Errorf("%s: owed %d times, told %d times, heard %d times", n, times, j.told[n], heard[n])
		}
	}
	for n := range heard {
		if j.owed[n] == 0 {
			s.t.Errorf("%s: heard and never owed", n)
		}
	}
	for line, times := range s.ear.lines() {
		if times != 1 {
			s.t.Errorf("told %d times: %s", times, line)
		}
	}
	if j.unknown > 0 {
		s.t.Errorf("%d news are unknown", j.unknown)
	}
	s.t.Logf("%s: %d news, told by %v", s.name, want, j.ways)
}

// tally is what the journal says of news.
type tally struct {
	owed, told map[news]int
	ways       map[string]int // by which way they were told
	unknown    int
}

func (s *seat) journal() tally {
	s.t.Helper()
	j := tally{map[news]int{}, map[news]int{}, map[string]int{}, 0}
	for _, e := range s.events("news", "news-told", "news-unknown") {
		what, way := e.Text, ""
		if at := strings.LastIndex(e.Text, " ("); at > 0 && e.Type != "news" { // "asked for input (question) (typed)"
			what, way = e.Text[:at], strings.Trim(e.Text[at:], " ()")
		}
		switch e.Type {
		case "news":
			j.owed[news{e.Worker, what}]++
		case "news-told":
			j.told[news{e.Worker, what}]++
			j.ways[way]++
		default:
			j.unknown++
		}
	}
	return j
}

// record is what the journal says of news, and what the model was asked, for a failure.
func (s *seat) record() string {
	var text strings.Builder
	for _, e := range s.events("news", "news-told", "news-unknown", "words-carried", "turn-ended", "agent-gone", "seat-moved", "keys-ordered", "worker-running") {
		fmt.Fprintf(&text, "%s %s %s %s %s %s\n", e.At.Format("04:05.000"), e.Type, e.Agent, e.Worker, e.Word, e.Text)
	}
	return text.String() + s.ear.record()
}

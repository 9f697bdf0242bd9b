//go:build linux || darwin

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// now names what is going on from here.
func (s *soak) now(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = step
}

// press sends keys as a person would.
func (s *soak) press(keys ...string) {
	s.t.Helper()
	s.life.key(time.Now())
	s.tmux.Run(append([]string{"send-keys", "-t", s.pane}, keys...)...)
}

// line types a text and submits it when it stands there.
func (s *soak) line(text string) {
	s.t.Helper()
	s.tmux.Run("send-keys", "-t", s.pane, "-l", text)
	s.tmux.WaitText(s.pane, text[max(0, len(text)-12):])
	s.press("Enter")
}

// say gives the agent a prompt and waits until its model has been asked. A long one goes into a file.
func (s *soak) say(lines ...string) {
	s.t.Helper()
	before := s.wire.asked()
	text := strings.Join(lines, " ;; ")
	if len(text) > 90 {
		s.round++
		name := fmt.Sprintf("p%d.md", s.round)
		s.write(name, strings.Join(lines, "\n")+"\n")
		text = "do " + name
	}
	s.line(text)
	s.await(20*time.Second, "the model is asked: "+text, func() (bool, string) { return s.wire.asked() > before, "" })
}

// is waits until the agent says that of itself.
func (s *soak) is(what states) {
	s.t.Helper()
	s.await(60*time.Second, "the agent says of itself: "+what.String(), func() (bool, string) {
		own := s.life.own.now()
		return own&what != 0, own.String()
	})
}

// ends waits until no turn runs, nor begins within a moment, and stays a while.
func (s *soak) ends() {
	s.t.Helper()
	var since time.Time
	s.await(90*time.Second, "the turn ends", func() (bool, string) {
		own, w := s.life.own.now(), s.life.wire.now()
		if own&idle == 0 || w.open() || !w.asked || s.wire.children() > 0 {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		}
		return !since.IsZero() && time.Since(since) > resting, own.String()
	})
}

// resting is how long an agent stays idle before the next thing is done to it.
const resting = 1500 * time.Millisecond

// tool waits until a command of the script runs.
func (s *soak) tool() {
	s.t.Helper()
	s.await(20*time.Second, "the command runs", func() (bool, string) { return s.life.procs.now().tool, "" })
}

// dead waits until the agent's process has ended, and stays a while.
func (s *soak) dead() {
	s.t.Helper()
	s.await(20*time.Second, "the process has ended", func() (bool, string) { return s.life.procs.now().ended, "" })
	hold(2 * time.Second)
}

func (s *soak) kill() {
	s.t.Helper()
	s.life.key(time.Now())
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// clear empties the input line.
func (s *soak) clear(draft string) {
	s.t.Helper()
	s.await(10*time.Second, "the draft is gone", func() (bool, string) {
		s.press("C-u")
		hold(200 * time.Millisecond)
		text := s.said(s.pane)
		return !strings.Contains(text[max(0, strings.LastIndex(text, "────────────\n❯")):], draft), text
	})
}

// shows waits for a text on the screen.
func (s *soak) shows(text string) { s.tmux.WaitText(s.pane, text) }

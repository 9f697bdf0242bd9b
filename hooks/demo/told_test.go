//go:build unix

package demo_test

import (
	"strings"
	"testing"

	"st/hooks"
	. "st/orch"
)

// Hooks that tell the agent a line, once each.
const (
	onceBlock   = `test -e blocked || { touch blocked; echo '{"decision":"block","reason":"say word [st-o1]"}'; }`
	onceContext = `test -e said || { touch said; echo '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"say word [st-o2]"}}'; }`
)

// twice blocks a second time when there is a file "again".
var twice = "n=$(test -e again && echo 2)\n" + strings.ReplaceAll(onceBlock, "blocked", "blocked$n")

// words are the marks that the transcripts prove, and those that the agent's end would.
func (s *stage) words() (in, atEnd string) {
	l := s.kind.Log()
	var marks []string
	for _, row := range s.transcripts() {
		marks = append(marks, l.Words([]byte(row))...)
	}
	return strings.Join(marks, " "), strings.Join(l.End(), " ")
}

func (s *stage) proved(in, atEnd string) {
	s.t.Helper()
	s.until("marks "+in+", at the end "+atEnd, func() bool {
		gotIn, gotEnd := s.words()
		return gotIn == in && gotEnd == atEnd
	})
}

// reached checks how often a text has reached the model, and how often a person has taken it back from it.
func (s *stage) reached(what, text string, times, back int) {
	s.t.Helper()
	if n, b := s.count(what, text), s.count("taken-back", text); n != times || b != back {
		s.t.Errorf("%q reached the model %d times and was taken back %d times, want %d and %d", text, n, b, times, back)
	}
}

func TestToldByHooks(t *testing.T) {
	s := play(t, map[string]string{"Stop": onceBlock, "UserPromptSubmit": onceContext})
	s.prompt("say hi [st-o3]")
	s.told(SessionStarted, PromptIn, TurnEnded, TurnEnded)
	s.proved("st-o3 st-o2 st-o1", "")
	s.reached("prompt", "say hi [st-o3]", 1, 0)
	s.reached("context", "say word [st-o2]", 1, 0)
	s.reached("hook-prompt", "say word [st-o1]", 1, 0)
}

func TestToldBesideAPromptThatJoins(t *testing.T) {
	s := play(t, map[string]string{"UserPromptSubmit": "test -e go || exit 0\n" + onceContext})
	s.prompt("run touch go; until test -e on; do sleep 0.02; done")
	s.told(SessionStarted, PromptIn, ToolStarted)
	s.until("the command", func() bool { return fileExists(s, "go") })
	s.prompt("say joined")
	s.told(SessionStarted, PromptIn, ToolStarted, PromptIn)
	s.until("the hook's answer", func() bool { return fileExists(s, "said") })
	s.proved("", "")
	s.write("on", "")
	s.shows("● word [st-o2]")
	s.proved("st-o2", "")
}

func TestEscBeforeTheFirstWordTakesAllBack(t *testing.T) {
	s := play(t, map[string]string{"UserPromptSubmit": onceContext})
	s.prompt("sleep 100")
	s.logged("context", "say word [st-o2]")
	s.keys("Escape")
	s.draft("sleep 100")
	s.reached("prompt", "sleep 100", 1, 1)
	s.reached("context", "say word [st-o2]", 1, 1)
	if n := s.interruptions(); n != 0 {
		t.Errorf("%d interruptions in the transcript", n)
	}
	s.proved("", "st-o2")
	s.keys("C-u")
	s.draft("")
	s.prompt("say on")
	s.told(SessionStarted, PromptIn, PromptIn, TurnEnded)
	s.proved("", "")
}

func TestEscInATurnThatGoesOn(t *testing.T) {
	s := play(t, map[string]string{"Stop": strings.ReplaceAll(onceBlock, "say word", "sleep 100 ;; say word")})
	s.prompt("say hi")
	s.logged("hook-prompt", "sleep 100 ;; say word [st-o1]")
	s.keys("Escape")
	s.draft("")
	s.proved("st-o1", "")
	s.reached("hook-prompt", "sleep 100 ;; say word [st-o1]", 1, 0)
	s.until("one interruption in the transcript", func() bool { return s.interruptions() == 1 })
	s.told(SessionStarted, PromptIn, TurnEnded)
}

// TestIgnoresWhatItIsTold: what a hook tells reaches nobody where the agent dies just then, or is stopped.
func TestIgnoresWhatItIsTold(t *testing.T) {
	block := map[string]string{"Stop": `echo '{"decision":"block","reason":"say word [st-o1]"}'`}
	t.Run("dies at a turn's end", func(t *testing.T) {
		s := play(t, block, "--nasty", "dies-when-told=9")
		s.prompt("say hi")
		s.exits(9)
		s.told(SessionStarted, PromptIn, TurnEnded)
		s.proved("", "")
	})
	t.Run("is stopped at a turn's end", func(t *testing.T) {
		s := play(t, map[string]string{"Stop": twice}, "--nasty", "esc-when-told")
		s.prompt("say hi")
		s.shows("Interrupted")
		s.screen(hooks.Ready)
		s.told(SessionStarted, PromptIn, TurnEnded)
		s.proved("", "")
		s.reached("hook-prompt", "say word [st-o1]", 0, 0)
		s.write("again", "") // it is told again
		s.prompt("say on")
		s.logged("hook-prompt", "say word [st-o1]")
		s.proved("st-o1", "")
	})
	t.Run("is stopped at a prompt", func(t *testing.T) {
		s := play(t, map[string]string{"UserPromptSubmit": onceContext}, "--nasty", "esc-when-told=1")
		s.prompt("say hi")
		s.logged("taken-back", "say hi") // it stands in the input line before it is submitted, too
		s.draft("say hi")
		s.reached("prompt", "say hi", 1, 1)
		s.reached("context", "say word [st-o2]", 0, 0)
		s.proved("", "")
		s.keys("Enter")
		s.told(SessionStarted, PromptIn, PromptIn, TurnEnded)
		s.proved("", "")
	})
}

//go:build unix

package demo_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"st/hooks"
	. "st/orch"
)

func TestSlowMountKeepsTextAndLosesEnter(t *testing.T) {
	s := play(t, nil, "--nasty", "slow-mount=1.5")
	s.told(SessionStarted)
	if name := s.kind.Look(s.view()).Name; name != hooks.Starting {
		t.Errorf("screen is %s before the mount", name)
	}
	s.keys("-l", "early")
	s.keys("Enter")
	s.draft("early")
	s.keys("Enter")
	s.logged("submitted", "early")
	s.logged("lost-enter", "early")
}

func TestFirstEnterSwallowed(t *testing.T) {
	s := play(t, nil, "--nasty", "enter-swallowed")
	s.prompt("say hi")
	s.logged("lost-enter", "say hi")
	s.draft("say hi")
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, TurnEnded)
}

func TestBurstsLoseTheirEnter(t *testing.T) {
	s := play(t, nil)
	s.screen(hooks.Ready)
	s.keys("-l", "say short\r")
	s.logged("lost-enter", "say short")
	s.draft("say short")
	s.keys("C-u")
	s.draft("") // or both come in one read
	long := "say " + strings.Repeat("long", 16)
	s.keys("-l", long+"\r")
	s.draft(long)
	s.keys("-l", "x")
	s.draft(long + "x") // in the row after the break
	s.keys("Enter")
	s.logged("submitted", long+"\nx")
}

func TestLongPastesAreFolded(t *testing.T) {
	s := play(t, nil)
	s.screen(hooks.Ready)
	s.paste("one\ntwo\nthree\nfour")
	s.draft("[Pasted text #1 +3 lines]")
	s.keys("Enter")
	s.logged("submitted", "\n\n<pasted_content>\none\ntwo\nthree\nfour\n</pasted_content>\n")
}

func TestPasteSlow(t *testing.T) {
	s := play(t, nil, "--nasty", "paste-slow=700")
	s.screen(hooks.Ready)
	s.paste("say late")
	s.keys("Enter") // on an empty line
	s.draft("say late")
	if s.count("submitted", "say late") != 0 {
		t.Error("an Enter before the text submitted it")
	}
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, TurnEnded)
}

func TestHooksMissing(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		s := play(t, nil, "--nasty", "no-hooks")
		s.prompt("say hi")
		s.shows("● hi")
		s.prompt("/exit")
		s.exits(0)
		s.told()
	})
	t.Run("start", func(t *testing.T) {
		s := play(t, nil, "--nasty", "no-start-hook")
		s.screen(hooks.Ready)
		s.told()
		s.prompt("say hi")
		s.told(SessionStarted, PromptIn, TurnEnded)
		s.prompt("say more")
		s.told(SessionStarted, PromptIn, TurnEnded, PromptIn, TurnEnded)
	})
	t.Run("late", func(t *testing.T) {
		s := play(t, nil, "--nasty", "late-hook=1")
		s.prompt("say hi")
		s.logged("submitted", "say hi")
		s.told(SessionStarted)
		s.told(SessionStarted, PromptIn, TurnEnded)
	})
}

func TestStartDialogs(t *testing.T) {
	t.Run("trust ends by Enter", func(t *testing.T) {
		s := play(t, nil, "--nasty", "trust")
		s.screen(hooks.Trust)
		if s.view().Alternate {
			t.Error("the trust dialog stands on the alternate screen")
		}
		s.keys("Enter")
		s.exits(1)
		s.told()
		s.logged("decided", "No, exit")
	})
	t.Run("all of them", func(t *testing.T) {
		s := play(t, nil, "--nasty", "trust,api-key,auto-mode")
		s.screen(hooks.Trust)
		s.keys("y")
		s.screen(hooks.APIKey)
		s.told()
		s.keys("Enter") // No is the default, so a login follows
		s.screen(hooks.Login)
		s.keys("Enter")
		s.screen(hooks.AutoMode)
		s.told(SessionStarted)
		s.keys("n")
		s.draft("")
	})
}

func TestLimit(t *testing.T) {
	s := play(t, nil, "--nasty", "limit")
	s.prompt("say hi")
	s.screen(hooks.Limit)
	s.told(SessionStarted, PromptIn)
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, TurnFailed)
	s.draft("")
}

func TestDeaths(t *testing.T) {
	t.Run("start", func(t *testing.T) {
		s := play(t, nil, "--nasty", "dies-at-start=7")
		s.exits(7)
		s.told()
	})
	t.Run("turn", func(t *testing.T) {
		s := play(t, nil, "--nasty", "dies-in-turn=3")
		s.prompt("say hi")
		s.exits(3)
		s.told(SessionStarted, PromptIn)
	})
}

func TestSilent(t *testing.T) {
	s := play(t, nil, "--nasty", "silent")
	s.prompt("say hi")
	s.shows("Working… (1s)")
	s.told()
	s.draft("")
	s.keys("Escape")
	s.shows("Interrupted")
	if strings.Contains(strings.Join(s.view().Rows, "\n"), "● hi") {
		t.Error("a silent agent spoke")
	}
}

func TestHangIsEndedByAKillOnly(t *testing.T) {
	s := play(t, nil, "--nasty", "hang")
	s.prompt("say hi")
	s.logged("submitted", "say hi")
	pid := s.pid()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	before := strings.Join(s.view().Rows, "\n")
	s.keys("-l", "anybody?")
	// Nothing can be waited for where nothing happens: half a second is far beyond the frame of a live agent.
	time.Sleep(500 * time.Millisecond)
	if after := strings.Join(s.view().Rows, "\n"); after != before {
		t.Errorf("the screen changed:\n%s", after)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.exits(137)
}

func TestScrollDoesNotFoolALook(t *testing.T) {
	s := play(t, nil, "--nasty", "scroll")
	s.shows("❯ 1. Yes")
	s.draft("")
	s.prompt("permission true")
	s.screen(hooks.Permission)
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, ToolStarted, PermissionAsked, ToolEnded, TurnEnded)
	s.draft("")
}

func TestEscQuiet(t *testing.T) {
	s := play(t, nil, "--nasty", "esc-quiet")
	s.prompt("run sleep 100")
	s.told(SessionStarted, PromptIn, ToolStarted)
	s.keys("Escape")
	s.shows("Interrupted")
	s.prompt("say on")
	s.told(SessionStarted, PromptIn, ToolStarted, PromptIn, TurnEnded)
	if n := s.interruptions(); n != 0 {
		t.Errorf("%d interruptions in the transcript", n)
	}
}

func TestNoReport(t *testing.T) {
	s := play(t, nil, "--nasty", "no-report")
	s.prompt(s.taskCopy("d1.md", "say hi\ndone x\n"))
	s.told(SessionStarted, PromptIn, ToolStarted, ToolEnded, TurnEnded)
	if s.file("report") != "" {
		t.Error("it reported")
	}
}

func TestScriptFileChoosesModes(t *testing.T) {
	script := t.TempDir() + "/script"
	writeText(t, script, "# screens\ntrust\ndraft=one, two\n")
	s := play(t, nil, "--script", script)
	s.screen(hooks.Trust)
	s.keys("1")
	s.draft("one, two")
}

func TestEscTwiceOnAnEmptyLineIsAMenu(t *testing.T) {
	s := play(t, nil)
	s.screen(hooks.Ready)
	s.keys("Escape", "Escape")
	s.screen(hooks.Strange)
	s.keys("2")
	s.draft("")
	s.keys("-l", "words")
	s.draft("words")
	s.keys("C-c")
	s.draft("")
}

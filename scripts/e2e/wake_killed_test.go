//go:build linux || darwin

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWakeKilled kills the process of a hook with the line that it was given to tell, before it has printed that and behind
// it, at a turn's end and beside a prompt whose turn goes on with a tool. Claude Code takes what a killed hook has printed,
// Codex does not: whichever it is, its model must be told each event once, and the journal must say the same.
func TestWakeKilled(t *testing.T) {
	for _, kind := range []string{"claude", "codex"} {
		t.Run(kind, func(t *testing.T) { killedHooks(t, kind) })
	}
}

func killedHooks(t *testing.T, kind string) {
	faults := withFaults(t)
	s := newSeat(t, kind)
	points, ways := []string{"hook.line.before", "hook.line.after"}, []string{"prompt", "turn_end"}
	news := 1 + len(points)*len(ways)
	s.write("tasks/asks.md", strings.Repeat("choose Which one?\n", news)+"done all was asked\n")
	s.asks("plan.md", "MOCK: bash st orch start --objective 'be woken'", "MOCK: bash st worker start --agent demo --name asks --task tasks/asks.md", "MOCK: say I wait.")
	told := func(n int) {
		s.await(60*time.Second, fmt.Sprintf("%d news are told", n), func() (bool, string) { return len(s.events("news-told")) >= n, s.record() })
		s.rests()
	}
	told(1)
	n := 1
	for _, way := range ways {
		for _, point := range points {
			n++
			let := s.holds(way, n)
			faults.next(point)
			s.st("worker", "key", "asks", "1")
			s.await(30*time.Second, "there are news", func() (bool, string) { return len(s.events("news")) == n, s.record() })
			let()
			s.await(30*time.Second, point+" "+way, func() (bool, string) { return faults.came(), s.record() })
			told(n)
		}
	}
	s.agrees(news)
}

// holds keeps the coordinator from being typed to, by a draft or by a turn, until the returned function is called: then
// the draft is entered, or the turn ends.
func (s *seat) holds(way string, n int) (let func()) {
	s.t.Helper()
	if way == "prompt" {
		text := fmt.Sprintf("MOCK: bash true ;; MOCK: say this is %d", n)
		s.person.Type(text)
		s.await(10*time.Second, "the draft stands there", func() (bool, string) {
			return squashed(s.look(s.view()).Draft) == squashed(text), s.said(s.pane)
		})
		return func() { s.person.Type("\r") }
	}
	file := filepath.Join(s.dir, fmt.Sprint("let", n))
	s.asks(fmt.Sprintf("busy%d.md", n), fmt.Sprintf(`MOCK: bash python3 -c 'import os, time; [time.sleep(0.1) for _ in iter(lambda: os.path.exists("%s"), True)]'`, file), "MOCK: say I was busy.")
	return func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// faults is the folder in which the program with failpoints reads what is to go wrong.
type faults struct {
	t      *testing.T
	folder string
	wants  int // how many have been planned
}

// withFaults puts the program with its failpoints in the place of st, for this test.
func withFaults(t *testing.T) *faults {
	t.Helper()
	home := os.Getenv("ST_BENCH")
	if home == "" {
		t.Skip("real agents: run scripts/e2e/run")
	}
	path, folder := filepath.Join(home, "bin", "st"), filepath.Join(home, "bin", "faults")
	if out, err := exec.Command("go", "build", "-tags", "faults", "-o", path+"-faults", "../../cmd/st").CombinedOutput(); err != nil {
		t.Fatalf("go build -tags faults: %v\n%s", err, out)
	}
	t.Cleanup(func() { // what ran in the panes may still count its last points: not in a folder of another name
		over := folder + "-over"
		if err := errors.Join(os.Rename(path+"-without", path), os.Rename(folder, over), os.RemoveAll(over)); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(os.Rename(path, path+"-without"), os.Rename(path+"-faults", path), os.MkdirAll(filepath.Join(folder, "hits"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return &faults{t: t, folder: folder}
}

// next wants the process killed that reaches a point next.
func (f *faults) next(point string) {
	f.t.Helper()
	hits, err := os.ReadFile(filepath.Join(f.folder, "hits", point))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	f.wants++
	if err := os.WriteFile(filepath.Join(f.folder, "plan"), fmt.Appendf(nil, "%s:%d=kill\n", point, len(hits)+1), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// came says that all that was wanted has come.
func (f *faults) came() bool {
	text, err := os.ReadFile(filepath.Join(f.folder, "fired"))
	return err == nil && strings.Count(string(text), "\n") == f.wants
}

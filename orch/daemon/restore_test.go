package daemon

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/tmux"
)

var lostServer = tmux.Identity{Socket: "/t/s", PID: 7, Start: 8}

// windowOf is a window of panes that are told as "%1 /dir [tag]".
func windowOf(index int, name string, panes ...string) tmux.WindowLayout {
	w := tmux.WindowLayout{ID: fmt.Sprint("@", index, name), Index: index, Name: name}
	for _, p := range panes {
		f := append(strings.Fields(p), "")
		w.Panes = append(w.Panes, tmux.PaneLayout{ID: f[0], Dir: f[1], Tag: f[2]})
	}
	return w
}

func autoOf(w tmux.WindowLayout) tmux.WindowLayout {
	w.Auto = true
	return w
}

// TestRestorePlan: what comes back, what is there, and what can't come back.
func TestRestorePlan(t *testing.T) {
	agent := func(id, dir string) orch.Agent {
		return orch.Agent{ID: id, Kind: "k", Ours: true, Place: orch.Place{Dir: dir, SessionName: "w", WindowName: "win-" + id}}
	}
	fates := map[string]orch.Fate{
		"%1": {Agent: agent("a1", "/one"), Worker: "w1", Resumable: true},
		"%2": {Agent: agent("a2", "/two"), Worker: "w2", Next: "a9"},
		"%3": {Agent: agent("a3", "/three"), Worker: "w3"},
		"%4": {Agent: orch.Agent{ID: "a4", Kind: "k", Place: orch.Place{Dir: "/four"}}},
		"%5": {Agent: agent("a5", "/nowhere"), Worker: "w5", Resumable: true},
		"%6": {Agent: agent("a6", "/six"), Worker: "w6", Resumable: true},
		"%7": {Agent: orch.Agent{ID: "a7", Kind: "changed", Ours: true, Place: orch.Place{Dir: "/seven"}}, Worker: "w7", Resumable: true},
	}
	lost := func(windows ...tmux.WindowLayout) []tmux.SessionLayout {
		return []tmux.SessionLayout{{Name: "w", Windows: windows}}
	}
	for _, c := range []struct {
		name string
		lost []tmux.SessionLayout
		now  []tmux.SessionLayout
		want string
	}{
		{"shells and agents", lost(windowOf(0, "sh", "%20 /d"), windowOf(1, "one", "%1 /x")), nil,
			"0 sh restored[shell /d] 1 one restored[resumed a1 /one]"},
		{"a folder that is gone", lost(windowOf(0, "sh", "%20 /nowhere"), windowOf(1, "five", "%5 /x")), nil,
			"0 sh restored[shell /home] 1 five skipped[failed a5 /nowhere]"},
		{"a kind that nobody trusts as it is", lost(windowOf(0, "sh", "%20 /d", "%7 /x"), windowOf(1, "seven", "%7 /x")), nil,
			"0 sh restored[shell /d, failed a7 /seven] 1 seven skipped[failed a7 /seven]"},
		{"what is back, what can't come, a person's agent", lost(windowOf(0, "two", "%2 /x"), windowOf(1, "three", "%3 /x"), windowOf(2, "four", "%4 /d")), nil,
			"0 two left[back a2 /two] 1 three skipped[gone a3 /three] 2 four restored[shell a4 /d]"},
		{"split", lost(windowOf(3, "mix", "%20 /d", "%1 /x", "%2 /x")), nil, "3 mix restored[shell /d, resumed a1 /one, back a2 /two]"},
		{"there already", lost(windowOf(0, "sh", "%20 /d"), windowOf(1, "one", "%1 /x")), lost(windowOf(4, "sh", "%50 /e"), windowOf(1, "one", "%51 /x")),
			"0 sh left[] 1 one restored beside[resumed a1 /one]"},
		{"each window that is there stands for one", lost(windowOf(0, "sh", "%20 /d"), windowOf(1, "sh", "%21 /d")), lost(windowOf(1, "sh", "%50 /d")),
			"0 sh left[] 1 sh restored[shell /d]"},
		{"the same index first", lost(windowOf(1, "sh", "%21 /d"), windowOf(0, "sh", "%20 /d")), lost(windowOf(0, "sh", "%50 /d"), windowOf(1, "sh", "%51 /d")),
			"1 sh left[] 0 sh left[]"},
		{"named by tmux", lost(autoOf(windowOf(0, "bash", "%20 /d")), autoOf(windowOf(1, "bash", "%21 /d"))), lost(autoOf(windowOf(0, "vi", "%50 /d")), autoOf(windowOf(1, "bash", "%51 /e"))),
			"0 bash left[] 1 bash restored[shell /d]"},
		{"another session of that window", lost(windowOf(0, "sh", "%20 /d")), []tmux.SessionLayout{{Name: "v", Windows: []tmux.WindowLayout{windowOf(0, "sh", "%50 /d")}}},
			"0 sh restored[shell /d]"},
		{"broken off", lost(windowOf(1, "mix", "%1 /x", "%20 /d")), lost(windowOf(1, "mix", "%50 /one held:a1", "%51 /d")), "1 mix restored again[resumed a1 /one, shell /d]"},
	} {
		p := &planner{
			tag: func(s string) string { return s }, used: map[string]bool{}, home: "/home", isDir: func(dir string) bool { return dir != "/nowhere" },
			fit: func(kind string) error {
				if kind == "changed" {
					return errors.New("not trusted")
				}
				return nil
			},
			seen: map[string]bool{}, agents: map[string]bool{}, fates: map[string]orch.Fate{},
		}
		for pane, f := range fates {
			p.fates[lostServer.String()+pane] = f
		}
		if c.now != nil {
			p.now = &tmux.Layout{Sessions: c.now}
		}
		got := planWords(p.windows([]lostLayout{{Layout: tmux.Layout{Server: lostServer, Sessions: c.lost}}}))
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	// An agent of which no layout tells gets a window all the same, and one that two layouts tell of comes once.
	p := &planner{tag: func(s string) string { return s }, used: map[string]bool{}, isDir: func(string) bool { return true }, fit: func(string) error { return nil }, seen: map[string]bool{}, agents: map[string]bool{},
		fates: map[string]orch.Fate{lostServer.String() + "%1": fates["%1"]}, loose: []orch.Fate{fates["%1"], fates["%6"]}}
	one := lostLayout{Layout: tmux.Layout{Server: lostServer, Sessions: lost(windowOf(1, "one", "%1 /x"))}}
	if got, want := planWords(p.windows([]lostLayout{one, {Layout: tmux.Layout{Sessions: lost(windowOf(1, "one", "%9 /x"))}}})),
		"1 one restored[resumed a1 /one] 0 win-a6 restored[resumed a6 /six]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func planWords(list []plannedWindow) string {
	var words []string
	for _, w := range list {
		var panes []string
		for _, p := range w.info.Panes {
			panes = append(panes, strings.Join(strings.Fields(p.What+" "+p.From+" "+p.Dir), " "))
		}
		what := w.info.What
		switch {
		case w.built != nil:
			what += " again"
		case w.info.Window != "" && what == restored:
			what += " beside"
		}
		for _, p := range w.panes {
			if (p.agent != nil) != (w.info.Panes[p.at].What == resumed) {
				what += " (another pane)"
			}
		}
		words = append(words, fmt.Sprintf("%d %s %s[%s]", w.info.Index, w.info.Name, what, strings.Join(panes, ", ")))
	}
	return strings.Join(words, " ")
}

// TestLayouts: what a server showed that has ended is kept beside what the next one shows, until it is over.
func TestLayouts(t *testing.T) {
	home := t.TempDir()
	l := &layouts{dir: layoutDir(home), ask: true, now: time.Now, log: log.New(io.Discard, "", 0)}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	shows := func(pid int64, names ...string) tmux.Layout {
		is := tmux.Layout{Server: tmux.Identity{Socket: "/t/s", PID: pid, Start: 1}}
		for _, n := range names {
			is.Sessions = append(is.Sessions, tmux.SessionLayout{Name: n, Windows: []tmux.WindowLayout{windowOf(0, n, "%1 /d")}})
		}
		return is
	}
	words := func() string {
		var parts []string
		for _, i := range l.lost() {
			parts = append(parts, fmt.Sprint(i.Sessions, " ", i.Windows))
		}
		return strings.Join(parts, ";")
	}
	l.keep(shows(1, "a", "b"))
	l.keep(shows(1)) // it is just ending
	l.forget(shows(9, "x").Server.String())
	l.lose(shows(2, "x").Server.String())
	if got := words(); got != "" {
		t.Errorf("lost while it runs: %s", got)
	}
	l.lose(shows(1, "a").Server.String())
	note, err := os.ReadFile(LostNote(home))
	if got := words(); got != "[a b] 2" || err != nil || !strings.Contains(string(note), `2 windows of "a", "b"`) {
		t.Errorf("lost: %s; told %q, %v", got, note, err)
	}
	l.keep(shows(2, "c"))
	l.keep(shows(3, "d")) // the one between has ended, too
	if got := words(); got != "[a b c] 3" {
		t.Errorf("lost: %s", got)
	}
	info, err := os.Stat(l.path("/t/s"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	l.askFirst()
	seen := l.all()[0].Lost
	l.keep(shows(5, "f")) // while what was seen is restored
	l.over("/t/s", seen, seen[:1])
	if got := words(); got != "[a b d] 3" {
		t.Errorf("after a restore: %s", got)
	}
	l.over("/t/s", l.all()[0].Lost, nil)
	l.forget(shows(5, "f").Server.String())
	l.keep(shows(3, "d"))
	if _, err := os.Stat(LostNote(home)); words() != "" || err == nil {
		t.Errorf("over: %s, %v", words(), err)
	}
	if f := l.all(); len(f) != 1 || f[0].Ask || f[0].Now == nil || f[0].Now.Server.PID != 3 {
		t.Errorf("%+v", f)
	}
	l.forget(shows(3, "d").Server.String())
	if left, _ := filepath.Glob(filepath.Join(l.dir, "*.json")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	// One that others could have written, or that is cut, is not believed, and not written over either.
	for _, spoil := range []func() error{
		func() error { return os.Chmod(l.path("/t/s"), 0o666) },
		func() error { return os.WriteFile(l.path("/t/s"), []byte(`{"socket":"/t/s","lost":[`), 0o600) },
	} {
		l.keep(shows(4, "e"))
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(l.path("/t/s"))
		if err != nil {
			t.Fatal(err)
		}
		if f := l.all(); len(f) != 0 {
			t.Errorf("believed: %+v", f)
		}
		l.keep(shows(5, "f"))
		if f := l.all(); len(f) != 1 || len(f[0].Lost) != 0 || f[0].Now.Server.PID != 5 {
			t.Errorf("afterwards: %+v", f)
		}
		kept, err := filepath.Glob(l.path("/t/s") + ".unread-*")
		if err != nil || len(kept) != 1 {
			t.Fatalf("kept aside: %v, %v", kept, err)
		}
		if is, err := os.ReadFile(kept[0]); string(is) != string(was) || err != nil {
			t.Errorf("kept aside is %s, %v", is, err)
		}
		if err := os.Remove(kept[0]); err != nil {
			t.Fatal(err)
		}
		l.forget(shows(5, "f").Server.String())
	}
}

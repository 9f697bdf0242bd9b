package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/tmux"
	"st/tmux/tmuxtest"
)

func TestDefaultSocketAndFromEnv(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s/tmux-%d/default", dir, os.Getuid())
	got := tmux.DefaultSocket(func(name string) string { return map[string]string{"TMUX_TMPDIR": dir}[name] })
	if got != want {
		t.Errorf("default socket %q, want %q", got, want)
	}
	for env, want := range map[string]string{"/tmp/a,b/s,12,0": "/tmp/a,b/s 12 true", "": " 0 false", "/s,x,0": " 0 false", ",1,0": " 0 false", "/s": " 0 false"} {
		socket, pid, ok := tmux.FromEnv(env)
		if got := fmt.Sprint(socket, " ", pid, " ", ok); got != want {
			t.Errorf("FromEnv(%q) is %q, want %q", env, got, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	s := tmuxtest.New(t)
	first := s.Identity()
	if read, err := tmux.ParseIdentity(first.String()); err != nil || read != first {
		t.Errorf("%v was read as %v, %v", first, read, err)
	}
	if first.Socket != s.Socket() || first.PID != int64(s.PID()) {
		t.Errorf("identity %v", first)
	}
	for _, bad := range []string{"", "|", "||", "a|1|", "a|x|1", "1|2"} {
		if _, err := tmux.ParseIdentity(bad); err == nil {
			t.Errorf("%q was read as an identity", bad)
		}
	}
	s.Kill()
	if _, err := s.Tmux().Identity(t.Context()); !errors.Is(err, tmux.ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	if _, err := tmux.At(s.Dir() + "/none").Panes(t.Context()); !errors.Is(err, tmux.ErrNoServer) {
		t.Errorf("without a socket: %v", err)
	}
	s.Start()
	if second := s.Identity(); second == first {
		t.Errorf("a new server is %v again", second)
	}
}

func TestVersion(t *testing.T) {
	v, err := tmux.InstalledVersion(t.Context())
	if err != nil || !v.AtLeast(3, 2) || v.AtLeast(99, 1) {
		t.Fatalf("%+v, %v", v, err)
	}
	for said, want := range map[string]string{
		"tmux 3.1c": "too old", "tmux 2.9a": "too old", "tmux 3.2": "fine", "tmux 3.3a": "fine", "tmux 3.10-rc2": "fine", "tmux next-3.6": "fine",
		"tmux master": "fine", "tmux openbsd-7.4": "fine", "tmux 4": "fine", "screen 5": "unreadable",
	} {
		t.Run(said, func(t *testing.T) {
			fakeTmux(t, "echo '"+said+"'")
			_, err := tmux.InstalledVersion(t.Context())
			got := "fine"
			if errors.Is(err, tmux.ErrTooOld) {
				got = "too old"
			} else if err != nil {
				got = "unreadable"
			}
			if got != want {
				t.Errorf("%s, want %s: %v", got, want, err)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := tmux.InstalledVersion(t.Context()); !errors.Is(err, tmux.ErrNotInstalled) {
		t.Errorf("without tmux: %v", err)
	}
	if _, err := tmux.At("/nowhere").Panes(t.Context()); !errors.Is(err, tmux.ErrNotInstalled) {
		t.Errorf("without tmux: %v", err)
	}
}

// fakeTmux puts a script in front of tmux.
func fakeTmux(t testing.TB, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// countCalls counts the tmux processes from here on.
func countCalls(t *testing.T) func() int {
	t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "calls")
	fakeTmux(t, "echo call >> "+log+"\nexec "+real+` "$@"`)
	return func() int {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
}

func TestFindSessionIsExact(t *testing.T) {
	s := tmuxtest.New(t)
	if sessions, err := s.Tmux().Sessions(t.Context()); err != nil || len(sessions) != 0 {
		t.Fatalf("on an empty server: %v, %v", sessions, err)
	}
	s.Session("s10")
	s.Session("other #{pid} 세션")
	if _, err := s.Tmux().FindSession(t.Context(), "s1"); !errors.Is(err, tmux.ErrNoSession) {
		t.Errorf("s1 found: %v", err)
	}
	got, err := s.Tmux().FindSession(t.Context(), "other #{pid} 세션")
	if err != nil || got.ID != "$1" || got.Windows != 1 || got.Attached != 0 || time.Since(got.Activity) > time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = s.Tmux().NewSession(t.Context(), "s10", s.Dir(), []string{"cat"}, nil)
	if !errors.Is(err, tmux.ErrSessionExists) {
		t.Errorf("a second s10: %v", err)
	}
}

func TestNewSessionStartsAServer(t *testing.T) {
	s := tmuxtest.New(t)
	s.Kill()
	p, err := s.Tmux().Bare().NewSession(t.Context(), "demo", s.Dir(), []string{"sh", "-c", "echo $GREETING; cat"}, []string{"GREETING=hello there"})
	if err != nil {
		t.Fatal(err)
	}
	s.WaitText(p.ID, "hello there")
	id := s.Identity()
	other := id
	other.PID++
	if err := s.Tmux().KillServer(t.Context(), tmux.Identity{}); !errors.Is(err, tmux.ErrOtherServer) {
		t.Errorf("no server named: %v", err)
	}
	if err := s.Tmux().KillServer(t.Context(), other); !errors.Is(err, tmux.ErrOtherServer) {
		t.Errorf("another server: %v", err)
	}
	if err := s.Tmux().KillServer(t.Context(), id); err != nil {
		t.Error(err)
	}
	// At once again, while the old one may still be ending.
	if _, err := s.Tmux().Bare().NewSession(t.Context(), "demo", s.Dir(), []string{"cat"}, nil); err != nil {
		t.Error(err)
	}
}

func TestOpenUnderAwkwardSettings(t *testing.T) {
	for _, config := range [][]string{
		{"set -g base-index 1", "set -g pane-base-index 1", "set -g renumber-windows on", "set -g automatic-rename on", "set -g allow-rename on"},
		{"set -g default-shell /bin/false", "set -g default-command 'exit 3'"},
		{"set -g remain-on-exit on", "set -g status-position top", "set -g pane-border-status top"},
	} {
		t.Run(config[0], func(t *testing.T) {
			s := tmuxtest.New(t, config...)
			s.Session("main", "cat", "-")
			s.Session("main2", "cat", "-") // tmux's own matching could take it for main
			p := s.Attach("main", 100, 30)
			before := s.Run("list-clients", "-F", "#{window_id} #{pane_id}")
			o := tmux.Open{Session: "$0", Name: "api", Dir: s.Dir(), Tag: "h:w1",
				// It asks for another title and name, as programs do.
				Argv: []string{"sh", "-c", `printf '\033kstolen\033\\'; echo started; exec cat`}}
			first, err := s.Tmux().Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			o.Argv = []string{"cat"} // alone it must not go through the shell either
			second, err := s.Tmux().Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			s.WaitText(first.ID, "started")
			for _, pane := range []tmux.Pane{first, second} {
				checkOpened(t, s, pane, o)
				if pane.Session != "$0" || pane.SessionName != "main" || pane.Dead {
					t.Errorf("opened %+v", pane)
				}
			}
			if after := s.Run("list-clients", "-F", "#{window_id} #{pane_id}"); after != before {
				t.Errorf("the person saw %s and sees %s", before, after)
			}
			p.Type("still here")
			s.WaitText("%0", "still here")
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main")
	good := tmux.Open{Session: "$0", Name: "x", Dir: s.Dir(), Tag: "h:w1", Argv: []string{"cat"}}
	for what, change := range map[string]func(*tmux.Open){
		"no folder":  func(o *tmux.Open) { o.Dir += "/none" },
		"no argv":    func(o *tmux.Open) { o.Argv = nil },
		"no session": func(o *tmux.Open) { o.Session = "$99" },
		"long":       func(o *tmux.Open) { o.Argv = append(o.Argv, strings.Repeat("x", 17000)) },
		"odd tag":    func(o *tmux.Open) { o.Tag = "a\tb" },
	} {
		o := good
		change(&o)
		if p, err := s.Tmux().Open(t.Context(), o); err == nil {
			t.Errorf("%s: opened %+v", what, p)
		}
	}
	// A person's hook that renames new windows leaves nothing half made behind.
	s.Run("set-hook", "-g", "after-new-window", "rename-window -t '{last}' mine ; kill-window -t '{end}'")
	if p, err := s.Tmux().Open(t.Context(), good); err == nil {
		t.Errorf("opened %+v", p)
	}
	s.Run("set-hook", "-gu", "after-new-window")
	if panes, err := s.Tmux().Panes(t.Context()); err != nil || len(panes) != 1 {
		t.Errorf("left: %+v, %v", panes, err)
	}
}

func TestPanesListsALinkedWindowOnce(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("a")
	s.Run("new-session", "-d", "-t", "a", "-s", "b")
	panes, err := s.Tmux().Panes(t.Context())
	if err != nil || len(panes) != 1 || !panes[0].Active || panes[0].SessionName != "a" {
		t.Errorf("%+v, %v", panes, err)
	}
}

func TestKillOnlyThePaneMeant(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main")
	p, err := s.Tmux().Open(t.Context(), tmux.Open{Session: "$0", Name: "x", Dir: s.Dir(), Tag: "h:w1", Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	id := s.Identity()
	other := id
	other.Start++
	for _, c := range []struct {
		pane string
		want tmux.Identity
		tag  string
		err  error
	}{
		{p.ID, other, "h:w1", tmux.ErrOtherServer}, {p.ID, id, "h:w2", tmux.ErrOtherTag}, {"%77", id, "h:w1", tmux.ErrNoPane},
		{"%77", other, "", tmux.ErrOtherServer}, {"x", id, "", tmux.ErrNoPane}, {"%0", id, "h:w1", tmux.ErrOtherTag}, {p.ID, id, "h:w1", nil}, {p.ID, id, "h:w1", tmux.ErrNoPane},
	} {
		if err := s.Tmux().Kill(t.Context(), c.pane, c.want, c.tag); !errors.Is(err, c.err) {
			t.Errorf("kill %s %v %s: %v, want %v", c.pane, c.want, c.tag, err, c.err)
		}
	}
	s.Run("set-option", "-s", "exit-empty", "on")
	if err := s.Tmux().Kill(t.Context(), "%0", id, ""); err != nil {
		t.Errorf("the server's last pane: %v", err)
	}
}

func TestKeysAreNotForCopyMode(t *testing.T) {
	s := tmuxtest.New(t)
	p := s.Session("main")
	if err := s.Tmux().Keys(t.Context(), p.ID, "hello", "Enter"); err != nil {
		t.Fatal(err)
	}
	s.WaitText(p.ID, "hello\nhello")
	s.Run("copy-mode", "-t", p.ID)
	if err := s.Tmux().Keys(t.Context(), p.ID, "q"); !errors.Is(err, tmux.ErrCopyMode) {
		t.Errorf("in copy mode: %v", err)
	}
	if err := s.Tmux().Keys(t.Context(), "%99", "q"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("a missing pane: %v", err)
	}
}

func TestLook(t *testing.T) {
	s := tmuxtest.New(t)
	p := s.Session("main", "sh", "-c", `printf '\033[1mbold\033[0m 한글\n\033(0q\033(B \033]0;title\033\\plain\n12345'; exec cat`)
	s.Session("dir\nnamed")
	v := s.WaitText(p.ID, "12345")
	if !strings.HasPrefix(v.Rows[0], "\x1b[1mbold") || tmuxtest.Plain(v.Rows[0]) != "bold 한글" || tmuxtest.Plain(v.Rows[1]) != "q plain" || len(v.Rows) != 24 || strings.ContainsAny(strings.Join(v.Rows, ""), "\x0e\x0f\x07") {
		t.Errorf("rows: %q", v.Rows)
	}
	if v.CursorX != 5 || v.CursorY != 2 || !v.CursorVisible || v.Alternate || v.InMode || v.Dead || v.Width != 80 || v.Height != 24 || v.PanePID != p.PID || v.Server != s.Identity() {
		t.Errorf("view: %+v", v)
	}
	s.Run("set-option", "-p", "-t", p.ID, tmux.TagOption, "a\n%9\tb")
	s.Run("copy-mode", "-t", p.ID)
	views, err := s.Tmux().Look(t.Context(), "%99", p.ID, "%1")
	if err != nil || len(views) != 2 || !views[p.ID].InMode || len(views["%1"].Rows) != 24 {
		t.Errorf("views: %+v, %v", views, err)
	}
	if _, err := s.Tmux().Look(t.Context(), p.ID, "%1 ; kill-server"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("a bad id: %v", err)
	}
	if views, err := s.Tmux().Look(t.Context()); err != nil || len(views) != 0 {
		t.Errorf("nothing asked: %v, %v", views, err)
	}
}

// openMany opens n tagged panes, many to a call, and waits until each shows its row.
func openMany(t testing.TB, s *tmuxtest.Server, n int) []string {
	t.Helper()
	s.Session("main")
	var cmds []tmux.Cmd
	for i := range n {
		cmds = append(cmds,
			tmux.Cmd{"new-window", "-d", "-t", "$0:", "-P", "-F", "#{pane_id}", "--", "sh", "-c", fmt.Sprintf("echo row of %d; exec cat", i)},
			tmux.Cmd{"set-option", "-p", "-t", fmt.Sprintf("%%%d", i+1), tmux.TagOption, fmt.Sprint("h:w", i)})
	}
	out, err := s.Tmux().Run(t.Context(), cmds...)
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(out)
	tmuxtest.Wait(t, "every pane shows its row", func() (bool, string) {
		views, err := s.Tmux().Look(t.Context(), ids...)
		if err != nil {
			return false, err.Error()
		}
		for i, id := range ids {
			if !strings.HasPrefix(views[id].Rows[0], fmt.Sprintf("row of %d", i)) {
				return false, id + "\n" + tmuxtest.Screen(views[id])
			}
		}
		return len(ids) == n, fmt.Sprint(len(ids), " panes")
	})
	return ids
}

func TestLookAt100PanesIsOneProcess(t *testing.T) {
	s := tmuxtest.New(t)
	ids := openMany(t, s, 100)
	calls := countCalls(t)
	views, err := s.Tmux().Look(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	if n := calls(); n != 1 {
		t.Errorf("%d processes", n)
	}
	for i, id := range ids {
		if v := views[id]; v.Tag != fmt.Sprint("h:w", i) || !strings.HasPrefix(v.Rows[0], fmt.Sprintf("row of %d", i)) {
			t.Errorf("pane %s: %+v", id, v)
		}
	}
	// More than fits is asked in several, and the same pane may be asked twice.
	views, err = s.Tmux().Look(t.Context(), append(append([]string{}, ids...), ids...)...)
	if n := calls(); err != nil || len(views) != 100 || n != 3 {
		t.Errorf("%d views, %d processes, %v", len(views), n, err)
	}
}

func BenchmarkLook100(b *testing.B) {
	s := tmuxtest.New(b)
	ids := openMany(b, s, 100)
	for b.Loop() {
		if views, err := s.Tmux().Look(b.Context(), ids...); err != nil || len(views) != 100 {
			b.Fatal(len(views), err)
		}
	}
}

func BenchmarkPanes100(b *testing.B) {
	s := tmuxtest.New(b)
	openMany(b, s, 100)
	for b.Loop() {
		if panes, err := s.Tmux().Panes(b.Context()); err != nil || len(panes) != 101 {
			b.Fatal(len(panes), err)
		}
	}
}

// What the figures above are measured against: one call that asks next to nothing, and a look with a call for
// each pane.
func BenchmarkIdentity(b *testing.B) {
	s := tmuxtest.New(b)
	for b.Loop() {
		if _, err := s.Tmux().Identity(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLook100OneByOne(b *testing.B) {
	s := tmuxtest.New(b)
	ids := openMany(b, s, 100)
	for b.Loop() {
		for _, id := range ids {
			if views, err := s.Tmux().Look(b.Context(), id); err != nil || len(views) != 1 {
				b.Fatal(len(views), err)
			}
		}
	}
}

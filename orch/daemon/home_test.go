//go:build linux || darwin

package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHomeFollowsTheEnvironment(t *testing.T) {
	for _, c := range []struct{ home, own, want string }{
		{"/h", "", "/h/.sophonz"},
		{"/h/it's 집", "", "/h/it's 집/.sophonz"},
		{"/h", "/x/y/", "/x/y"},
		{"", "/x", "/x"},
	} {
		env := map[string]string{"HOME": c.home, "ST_HOME": c.own}
		got, err := Home(func(name string) string { return env[name] })
		if err != nil || got != c.want {
			t.Errorf("HOME=%q ST_HOME=%q: %q, %v, want %q", c.home, c.own, got, err, c.want)
		}
	}
	if _, err := Home(func(string) string { return "" }); code(err) != "home_refused" {
		t.Errorf("without both: %v", err)
	}
}

func TestHomeOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	must(t, os.Mkdir(open, 0o755))
	err := Prepare(open)
	if code(err) != "home_refused" || !strings.Contains(err.Error(), "0755") {
		t.Errorf("mode 0755: %v", err)
	}
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if err := Prepare(file); code(err) != "home_refused" {
		t.Errorf("a file: %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	foreign := filepath.Join(dir, "foreign")
	must(t, os.Mkdir(foreign, 0o700))
	must(t, os.Chown(foreign, 12345, 12345))
	if err := Prepare(foreign); code(err) != "home_refused" || !strings.Contains(err.Error(), "12345") {
		t.Errorf("another user's: %v", err)
	}
	if Exists(foreign) {
		t.Error("another user's home counts as ours")
	}
}

func TestPrepareMakesPrivateFolders(t *testing.T) {
	home, _ := testHome(t)
	must(t, Prepare(home))
	must(t, Prepare(home))
	for _, dir := range []string{"", "run", "run/spool", "orch"} {
		info, err := os.Stat(filepath.Join(home, dir))
		must(t, err)
		if !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v", dir, info.Mode())
		}
	}
}

func TestLongHomeHasAShortSocket(t *testing.T) {
	base, _ := testHome(t)
	home := filepath.Join(base, strings.Repeat("긴 이름 ", 12))
	must(t, Prepare(home))
	path := SocketPath(home)
	if len(path) > socketMax || !strings.HasPrefix(path, "/tmp/st-") {
		t.Fatalf("socket path %q", path)
	}
	t.Cleanup(func() { must(t, os.RemoveAll(filepath.Dir(path))) })
	s := &Server{}
	must(t, s.Listen(home))
	defer s.listener.Close()
	noted, err := os.ReadFile(filepath.Join(home, "run", "sock.path"))
	must(t, err)
	if string(noted) != path+"\n" {
		t.Errorf("noted %q, want %q", noted, path)
	}
	must(t, os.Chmod(filepath.Dir(path), 0o755))
	if err := checkSocketDir(home); code(err) != "home_refused" {
		t.Errorf("a folder that others may enter: %v", err)
	}
	if err := s.Listen(home); code(err) != "home_refused" {
		t.Errorf("listening there: %v", err)
	}
}

func TestShortFolderIsNoLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(dir, link))
	if err := checkNoLink(link); code(err) != "home_refused" {
		t.Errorf("got %v", err)
	}
}

func TestLogIsPutAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "st.log")
	must(t, os.WriteFile(path, bytes.Repeat([]byte("x"), logMax-10), 0o600))
	l, err := OpenLog(path)
	must(t, err)
	defer l.Close()
	for _, line := range []string{"short\n", "one too many\n"} {
		_, err := l.Write([]byte(line))
		must(t, err)
	}
	now, err := os.ReadFile(path)
	must(t, err)
	old, err := os.ReadFile(path + ".1")
	must(t, err)
	if string(now) != "one too many\n" || !bytes.HasSuffix(old, []byte("xshort\n")) {
		t.Errorf("the new log holds %q, the old one ends in %q", now, old[len(old)-10:])
	}
}

func TestPaneSpecIsTakenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pane.json")
	must(t, WritePaneSpec(path, PaneSpec{Agent: "a1", Argv: []string{"/bin/true"}, Env: []string{"A=b"}}))
	if err := WritePaneSpec(path, PaneSpec{}); err == nil {
		t.Error("a spec was written over another")
	}
	got, err := TakePaneSpec(path)
	if err != nil || got.Agent != "a1" || len(got.Env) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := TakePaneSpec(path); !os.IsNotExist(err) {
		t.Errorf("a second time: %v", err)
	}
	must(t, os.WriteFile(path, []byte(`{"argv":["/bin/true"]}`), 0o644))
	if _, err := TakePaneSpec(path); err == nil {
		t.Error("one that others may read was taken")
	}
}

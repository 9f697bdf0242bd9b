//go:build linux || darwin

package daemon

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopiesLieAtPlainPaths(t *testing.T) {
	if dir := copyDir("/home/a.b/st-1_x"); dir != "/home/a.b/st-1_x/orch" {
		t.Errorf("plain home: %s", dir)
	}
	for _, home := range []string{"/home/a b", "/home/한글", "/home/it's", "/home/#x", "/home/a@b", "/home/(x)"} {
		dir := copyDir(home)
		if !plainPath().MatchString(dir) || !strings.HasPrefix(dir, "/tmp/st-") {
			t.Errorf("%s: %s", home, dir)
		}
		if dir == copyDir(home+"2") {
			t.Errorf("%s: two homes share %s", home, dir)
		}
	}
}

func TestEnvironmentFileIsOursAlone(t *testing.T) {
	home := t.TempDir()
	d := &doer{home: home, log: log.New(io.Discard, "", 0)}
	dir := filepath.Join(runDir(home), "launch")
	must(t, os.MkdirAll(dir, 0o700))
	write := func(path string, mode os.FileMode) string {
		must(t, os.WriteFile(path, []byte(`{"env":["A=b","PATH=/x"]}`), mode))
		return path
	}
	good := write(filepath.Join(dir, "1.json"), 0o600)
	env, err := d.openEnv(good)
	if err != nil || lastOf(env, "PATH") != "/x" {
		t.Fatalf("got %q, %v", env, err)
	}
	link := filepath.Join(dir, "2.json")
	must(t, os.Symlink(good, link))
	for name, path := range map[string]string{
		"another folder": write(filepath.Join(home, "3.json"), 0o600),
		"a wider mode":   write(filepath.Join(dir, "4.json"), 0o644),
		"a link":         link, "nothing": filepath.Join(dir, "5.json"), "a way out": dir + "/../../3.json",
		"another name": write(filepath.Join(dir, "6.txt"), 0o600), "no path": "",
	} {
		if _, err := d.openEnv(path); err == nil {
			t.Errorf("%s is taken", name)
		}
		d.dropEnv(path)
		if _, err := os.Lstat(path); name != "nothing" && path != "" && err != nil {
			t.Errorf("%s was removed: %v", name, err)
		}
	}
	d.dropEnv(good)
	if _, err := os.Lstat(good); !os.IsNotExist(err) {
		t.Errorf("the file of a refused start stays: %v", err)
	}
}

func TestCommandIsOurOwnName(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "real-st")
	must(t, os.WriteFile(self, []byte("ours"), 0o700))
	d := &doer{self: self}
	ours, other, none := filepath.Join(dir, "ours"), filepath.Join(dir, "other"), filepath.Join(dir, "none")
	for _, p := range []string{ours, other, none} {
		must(t, os.Mkdir(p, 0o700))
	}
	must(t, os.Symlink(self, filepath.Join(ours, "st")))
	must(t, os.WriteFile(filepath.Join(other, "st"), []byte("a terminal"), 0o700))
	for _, c := range []struct{ path, want string }{
		{none + ":" + ours, "st"}, {ours + ":" + other, "st"}, {other + ":" + ours, self}, {none, self}, {"", self},
	} {
		if got := d.command([]string{"PATH=/old", "PATH=" + c.path}); got != c.want {
			t.Errorf("%s: got %s", c.path, got)
		}
	}
}

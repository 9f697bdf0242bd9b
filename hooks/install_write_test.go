//go:build unix

package hooks

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// TestLinkStays: the file behind a link is written, also behind one that leads to nothing yet.
func TestLinkStays(t *testing.T) {
	for _, there := range []bool{true, false} {
		k, s := newSettings(t, "claude")
		path, dotfiles := k.Files(s.Folder)[0], t.TempDir()
		middle := filepath.Join(dotfiles, "link.json")
		symlink(t, middle, path)
		symlink(t, "real.json", middle)
		if there {
			writeFile(t, filepath.Join(dotfiles, "real.json"), "{}\n")
		}
		apply(t, k, s, k.Install)
		wantInstalled(t, k, s)
		if to, err := os.Readlink(path); err != nil || to != middle {
			t.Errorf("the link leads to %q, %v", to, err)
		}
		if info, err := os.Lstat(filepath.Join(dotfiles, "real.json")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%v, %v", info, err)
		}
		apply(t, k, s, k.Uninstall)
		if text, err := readOne(filepath.Join(dotfiles, "real.json")); err != nil || (text != nil) != there || there && string(text) != "{}\n" {
			t.Errorf("after uninstalling %q, %v", text, err)
		}
	}
}

// TestModeAndOwnerStay: a replaced file has the mode of the old one, and as root its owner.
func TestModeAndOwnerStay(t *testing.T) {
	k, s := newSettings(t, "claude")
	path := k.Files(s.Folder)[0]
	writeFile(t, path, "{}\n")
	if err := os.Chmod(path, 0o646); err != nil {
		t.Fatal(err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = nobody
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, k, s, k.Install)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Uid); info.Mode().Perm() != 0o646 || got != owner {
		t.Errorf("mode %v, owner %d", info.Mode(), got)
	}
	onlyFiles(t, s.Folder, "settings.json")
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, names, want)
	}
}

// TestRewrittenMeanwhile: a file that somebody else writes between our reading and our writing is read anew.
func TestRewrittenMeanwhile(t *testing.T) {
	k, s := newSettings(t, "claude")
	path := k.Files(s.Folder)[0]
	writeFile(t, path, "{}\n")
	tries := 0
	_, err := Apply(k, s, false, func(s Setup) (Texts, error) {
		if tries++; tries <= 3 {
			writeFile(t, path, fmt.Sprintf("{\"theirs\": %d}\n", tries))
		}
		return k.Install(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(readFile(t, path)), `{"theirs": 3,`) || tries != 4 {
		t.Errorf("after %d tries\n%s", tries, readFile(t, path))
	}
	wantInstalled(t, k, s)
}

// TestRewrittenAlways: somebody who writes all the time wins, and nothing of us is left.
func TestRewrittenAlways(t *testing.T) {
	k, s := newSettings(t, "codex")
	files := k.Files(s.Folder)
	tries := 0
	_, err := Apply(k, s, false, func(s Setup) (Texts, error) {
		tries++
		writeFile(t, files[1], fmt.Sprintf("theirs = %d\n", tries))
		return k.Install(s)
	})
	if !errors.Is(err, errBusy) {
		t.Errorf("it said %v", err)
	}
	if got := string(readFile(t, files[1])); got != fmt.Sprintf("theirs = %d\n", tries) {
		t.Errorf("config.toml is %q", got)
	}
	onlyFiles(t, s.Folder, "config.toml")
}

const nobody = 65534

// TestMain lets the test binary install as another user: root may write where a person may not.
func TestMain(m *testing.M) {
	folder := os.Getenv("HOOKS_INSTALL_INTO")
	if folder == "" {
		os.Exit(m.Run())
	}
	k := settings["codex"]
	_, err := Apply(k, Setup{Folder: folder, Self: newSt, Given: []string{"allow", codexTrustFlag}}, false, k.Install)
	fmt.Println(err)
}

func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		name  string
		modes map[string]os.FileMode
		want  string
	}{
		{"a file", map[string]os.FileMode{"hooks.json": 0o400}, "hooks.json: permission denied"},
		{"the second file", map[string]os.FileMode{"config.toml": 0o400}, "config.toml: permission denied"},
		{"the third file's folder", map[string]os.FileMode{"rules": 0o500}, "rules: permission denied"},
		{"the folder", map[string]os.FileMode{".": 0o500}, ": permission denied"},
		{"an unreadable file", map[string]os.FileMode{"config.toml": 0}, "config.toml: permission denied"},
		{"nothing", nil, "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(public(t), "codex")
			texts := map[string]string{"hooks.json": "{}\n", "config.toml": "model = \"x\"\n", "rules/default.rules": ""}
			for name, text := range texts {
				writeFile(t, filepath.Join(dir, name), text)
			}
			own(t, dir)
			for name, mode := range c.modes {
				chmod(t, filepath.Join(dir, name), mode)
			}
			said := installAs(t, dir)
			if !strings.Contains(said, c.want) {
				t.Errorf("it said %q, want %q", said, c.want)
			}
			for name := range c.modes {
				chmod(t, filepath.Join(dir, name), 0o700)
			}
			for name, text := range texts {
				if got := string(readFile(t, filepath.Join(dir, name))); c.modes != nil && got != text {
					t.Errorf("%s became %q", name, got)
				}
			}
			if c.modes != nil {
				onlyFiles(t, dir, "config.toml", "hooks.json", "rules")
				onlyFiles(t, filepath.Join(dir, "rules"), "default.rules")
			}
		})
	}
}

// installAs installs in another process, as another user if the test runs as root, and returns what it said.
func installAs(t *testing.T, folder string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	if os.Geteuid() == 0 {
		raw := readFile(t, os.Args[0])
		path := filepath.Join(public(t), "test")
		if err := os.WriteFile(path, raw, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd = exec.Command(path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOOKS_INSTALL_INTO="+folder)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// public is a temporary folder that other users can enter; those of the testing package are not.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hooks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	chmod(t, dir, 0o755)
	return dir
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// own gives a folder to the user that installs.
func own(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Chown(path, nobody, nobody))
	})
	if err != nil {
		t.Fatal(err)
	}
}

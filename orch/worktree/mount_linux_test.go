package worktree

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMounts: a folder of the same file system that is mounted below what git ignores is found, and not walked.
func TestMounts(t *testing.T) {
	b := oneCommit(t)
	b.write(".gitignore", "ign\n")
	b.write("ign/a b/x", "")
	data := t.TempDir()
	at := filepath.Join(b.dir, "ign", "a b")
	if err := syscall.Mount(data, at, "", syscall.MS_BIND, ""); err != nil {
		t.Skip("only root may mount, and not everywhere: ", err)
	}
	defer func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Error(err)
		}
	}()
	s, err := StatusOf(context.Background(), b.dir)
	if err != nil || len(s.Mounts) != 1 || s.Mounts[0] != "ign/a b" {
		t.Errorf("%q %v", s.Mounts, err)
	}
}

func TestUnescaped(t *testing.T) {
	for in, want := range map[string]string{`/a\040b`: "/a b", `/a\134040`: `/a\040`, `/a\0`: `/a\0`, "/ä": "/ä"} {
		if got := unescaped(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

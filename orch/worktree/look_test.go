//go:build unix

package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestUnreadable: of a worktree with a folder that can't be read, or whose files can't be reached, nobody knows what it
// holds. git warns, and goes on.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads all")
	}
	for _, mode := range []fs.FileMode{0, 0o600} {
		b := oneCommit(t)
		b.write("sec/p", "precious\n")
		if err := os.Chmod(filepath.Join(b.dir, "sec"), mode); err != nil {
			t.Fatal(err)
		}
		_, err := StatusOf(context.Background(), b.dir)
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v: %v", mode, err)
		}
		if err := os.Chmod(filepath.Join(b.dir, "sec"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

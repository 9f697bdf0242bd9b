package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzWalk: whatever stands in a store's file, looking at it ends, in time and within bounds.
func FuzzWalk(f *testing.F) {
	raw := read(f, filepath.Join(filled(f), File))
	f.Add(raw[:4*4096])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := walk(raw); err == nil {
			// What is let through, bbolt must be able to open.
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, File), raw, 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := Open(dir, Options{})
			if err == nil {
				shut(t, j)
			}
		}
	})
}

//go:build linux || darwin

package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"st/hooks"
	"st/orch"
)

// TestOwnFolder: what an agent is to read that reads below its folder only lies there, git passes over it, and no link in that
// folder leads elsewhere.
func TestOwnFolder(t *testing.T) {
	d := &doer{home: t.TempDir(), mark: "00ff00ff"}
	dir := filepath.Join("/tmp", filepath.Base(t.TempDir())+"-own") // of plain characters
	must(t, os.MkdirAll(dir, 0o700))
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a folder of the test
	bounded, free := lookup(t, "claude"), lookup(t, "codex")
	base := d.filesFor(bounded, dir)
	if base != filepath.Join(dir, ".st", "00ff00ff") || d.filesFor(free, dir) != copyDir(d.home) || d.filesFor(bounded, dir+"/a b") != copyDir(d.home) {
		t.Fatalf("the files lie in %q, %q, %q", base, d.filesFor(free, dir), d.filesFor(bounded, dir+"/a b"))
	}
	note := orch.FileWrite{Word: "o1", Path: base + "/r1/w1-d1.md", Task: &orch.TaskCopy{Worker: "w1", Run: "r1", Dispatch: "d1", Command: "st", Spec: "do it"}}
	must(t, d.writeNote(note))
	ignore, err := os.ReadFile(filepath.Join(dir, ".st", ".gitignore"))
	if err != nil || string(ignore) != "*\n" {
		t.Errorf("git is told %q, %v", ignore, err)
	}
	if info, err := os.Stat(note.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, ".st")))
	elsewhere := t.TempDir()
	must(t, os.Symlink(elsewhere, filepath.Join(dir, ".st")))
	if err := d.writeNote(note); err == nil {
		t.Error("a link in the agent's folder was followed")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("through the link came %v, %v", left, err)
	}
}

func lookup(t *testing.T, kind string) hooks.Kind {
	t.Helper()
	k, err := hooks.Lookup(kind)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

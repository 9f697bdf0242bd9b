//go:build linux || darwin

package daemon

import (
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/hooks"
	"st/orch"
)

// sitting is an agent in a folder.
func sitting(dir string) orch.PaneAgent { return orch.PaneAgent{Place: orch.Place{Dir: dir}} }

// TestOwnFolder: what an agent is to read that reads below its folder only lies there, git passes over it, and no link in that
// folder leads elsewhere.
func TestOwnFolder(t *testing.T) {
	d := &doer{home: t.TempDir(), mark: "00ff00ff", state: func(func(orch.View)) {}}
	dir := filepath.Join("/tmp", filepath.Base(t.TempDir())+"-own") // of plain characters
	must(t, os.MkdirAll(dir, 0o700))
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a folder of the test
	bounded, free := lookup(t, "claude"), lookup(t, "codex")
	base := d.filesFor(bounded, sitting(dir))
	if base != filepath.Join(dir, ".st", "00ff00ff") || d.filesFor(free, sitting(dir)) != copyDir(d.home) || d.filesFor(bounded, sitting(dir+"/a b")) != copyDir(d.home) {
		t.Fatalf("the files lie in %q, %q, %q", base, d.filesFor(free, sitting(dir)), d.filesFor(bounded, sitting(dir+"/a b")))
	}
	if at := (orch.PaneAgent{Place: orch.Place{Dir: dir}, Log: "/h/.gemini/tmp/p/chats/session-1.jsonl"}); d.filesFor(lookup(t, "gemini"), at) != "/h/.gemini/tmp/p/.st/00ff00ff" {
		t.Errorf("those of one that reads beside its log lie in %q", d.filesFor(lookup(t, "gemini"), at))
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

// TestOwnFolderGoes: once a worker is released its files are with those of its run, and our folder goes with the last of them;
// what is not ours stays, and no link is followed.
func TestOwnFolderGoes(t *testing.T) {
	d := &doer{home: t.TempDir(), mark: "00ff00ff", state: func(func(orch.View)) {}, log: log.New(io.Discard, "", 0)}
	dir := filepath.Join("/tmp", filepath.Base(t.TempDir())+"-own") // of plain characters
	must(t, os.MkdirAll(dir, 0o700))
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a folder of the test
	base := d.filesFor(lookup(t, "claude"), sitting(dir))
	write := func(names ...string) {
		t.Helper()
		for _, n := range names {
			must(t, d.writeNote(orch.FileWrite{Word: "o1", Path: base + "/r1/" + n, Note: orch.Note{Message: "m1", Text: n}}))
		}
	}
	move := func(worker, to string) {
		t.Helper()
		got := d.filesMove(orch.FilesMove{Worker: worker, From: base + "/r1/" + worker})
		if got != (orch.FilesMoved{Worker: worker, To: to}) {
			t.Errorf("%s: %+v, not to %q", worker, got, to)
		}
	}
	there := func(what, want string) {
		t.Helper()
		var names []string
		must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if name, _ := filepath.Rel(dir, path); err == nil && !e.IsDir() {
				names = append(names, name)
			}
			return err
		}))
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q is there, not %q", what, got, want)
		}
	}
	run := filepath.Join(copyDir(d.home), "r1")
	t.Cleanup(func() { os.RemoveAll(run) }) //nolint:errcheck // where the home's path is none of plain characters it is elsewhere
	write("w1-d1.md", "w1-m3.md", "w11-d4.md")
	move("w1", run+"/w1")
	there("another worker's", ".st/.gitignore .st/00ff00ff/r1/w11-d4.md")
	if text, err := os.ReadFile(filepath.Join(run, "w1-m3.md")); err != nil || !strings.Contains(string(text), "w1-m3.md") {
		t.Errorf("with its run: %q, %v", text, err)
	}
	move("w1", run+"/w1") // once more, after a crash
	must(t, os.WriteFile(filepath.Join(dir, ".st", "mine"), nil, 0o600))
	move("w11", run+"/w11")
	there("a person's", ".st/.gitignore .st/mine")
	must(t, os.Remove(filepath.Join(dir, ".st", "mine")))
	write("w2-d5.md")
	move("w2", run+"/w2")
	there("ours alone", "")
	if _, err := os.Lstat(filepath.Join(dir, ".st")); err == nil {
		t.Error("our folder is there")
	}
	elsewhere := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(elsewhere, "00ff00ff", "r1"), 0o700))
	must(t, os.WriteFile(filepath.Join(elsewhere, "00ff00ff", "r1", "w3-d1.md"), nil, 0o600))
	must(t, os.Symlink(elsewhere, filepath.Join(dir, ".st")))
	move("w3", "")
	if _, err := os.Stat(filepath.Join(elsewhere, "00ff00ff", "r1", "w3-d1.md")); err != nil {
		t.Errorf("a link was followed: %v", err)
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

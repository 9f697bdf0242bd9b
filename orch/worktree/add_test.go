package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCopyStaysInside: what is copied is what was named, and no link leads anybody out.
func TestCopyStaysInside(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(t.TempDir(), "secret")
	b.write(outside, "not yours")
	b.write(".gitignore", "*.env\nbig/\nplain\nto*\nsub/\n")
	b.write(IncludeFile, "*.env\ntracked.txt\nto*\nnot-ignored\nsub/deep/\n")
	b.write("tracked.txt", "tracked")
	b.must(os.Symlink(filepath.Dir(outside), filepath.Join(b.dir, "cfg"))) // tracked: in the worktree it leads out
	b.commit("", "one")
	b.must(os.Remove(filepath.Join(b.dir, "cfg")))
	for name, text := range map[string]string{"a.env": "A", "sub/deep/b.env": "B", "sub/deep/c": "C", "sub/d": "D", "big/x": "X", "not-ignored": "N", "plain": "P", "cfg/e.env": "E", "of its own/f": "F"} {
		b.write(name, text)
	}
	b.must(os.Symlink("a.env", filepath.Join(b.dir, "to-inside")))
	b.must(os.Symlink(outside, filepath.Join(b.dir, "to-outside")))
	b.must(os.Symlink("../../../secret", filepath.Join(b.dir, "sub/deep/to-above")))
	w := b.add("one")
	c, err := Copy(ctx, b.dir, w.Path, []string{"of its own/*"})
	b.must(err)
	for name, want := range map[string]string{"a.env": "A", "sub/deep/b.env": "B", "sub/deep/c": "C", "of its own/f": "F", "to-inside": "A", "tracked.txt": "tracked"} {
		if got, err := os.ReadFile(filepath.Join(w.Path, name)); string(got) != want {
			t.Errorf("%s holds %q (%v)", name, got, err)
		}
	}
	for _, name := range []string{"sub/d", "big", "not-ignored", "plain", "to-outside", "sub/deep/to-above"} {
		if _, err := os.Lstat(filepath.Join(w.Path, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(outside), "e.env")); err == nil {
		t.Error("a file was written out of the worktree")
	}
	if skipped := strings.Join(c.Skipped, "\n"); c.Files != 5 || !strings.Contains(skipped, "to-outside: it leads out") || !strings.Contains(skipped, "cfg/e.env: ") {
		t.Errorf("%d copied, skipped:\n%s", c.Files, skipped)
	}
}

// TestAddTakesWhatWasLeft: after a crash a worktree that git has finished is taken as it stands, one that it has not is made
// anew, and what is somebody else's stays.
func TestAddTakesWhatWasLeft(t *testing.T) {
	b := oneCommit(t)
	w := b.add("whole")
	b.must(w.Add(ctx, time.Minute))
	half := b.want("half")
	b.git("", "worktree", "add", "-q", "--no-checkout", "--lock", "--reason", initializing, "-b", half.Branch, half.Path)
	b.must(half.Add(ctx, time.Minute))
	branch := b.want("branch")
	b.git("", "branch", branch.Branch)
	b.must(branch.Add(ctx, time.Minute))
	for _, w := range []Want{w, half, branch} {
		if got, err := os.ReadFile(filepath.Join(w.Path, "a.txt")); string(got) != "1\n" {
			t.Errorf("%s: %q, %v", w.Branch, got, err)
		}
	}
	var taken *Taken
	b.must(os.Remove(filepath.Join(w.Path, "a.txt"))) // somebody works there
	b.write(filepath.Join(w.Path, "new.txt"), "precious")
	b.must(w.Add(ctx, time.Minute))
	b.git(w.Path, "switch", "-qc", "else")
	if err := w.Add(ctx, time.Minute); !errors.As(err, &taken) {
		t.Errorf("with another branch: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(w.Path, "new.txt")); string(got) != "precious" {
		t.Errorf("a new file holds %q, %v", got, err)
	}
	b.git(w.Path, "switch", "-q", w.Branch)
	b.must(os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte("1\n"), 0o644))
	for name, w := range map[string]Want{
		"its folder":  {Repo: b.dir, Path: w.Path, Branch: "x", Base: w.Base, New: true},
		"its branch":  {Repo: b.dir, Path: w.Path + "x", Branch: w.Branch, Base: w.Base, New: true},
		"main's":      {Repo: b.dir, Path: w.Path + "x", Branch: "main", Base: w.Base},
		"a new one's": {Repo: b.dir, Path: w.Path + "x", Branch: "main", Base: w.Base, New: true},
	} {
		if err := w.Free(ctx); !errors.As(err, &taken) {
			t.Errorf("%s is free: %v", name, err)
		}
	}
}

// TestLocksAreWaitedFor: a lock of another git is waited for, and one that stays is named.
func TestLocksAreWaitedFor(t *testing.T) {
	b := oneCommit(t)
	path := filepath.Join(b.dir, ".git", "refs", "heads", "st", "x.lock")
	b.write(path, "")
	freed := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { freed <- os.Remove(path) })
	tip := b.git("", "rev-parse", "HEAD")
	_, err := Keep(ctx, b.dir, "refs/heads/st/x", tip, true)
	if b.must(<-freed); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	for _, said := range []string{
		"fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process", "fatal: update_ref failed for ref 'x': cannot lock ref 'x': Unable to create '/r/.git/x.lock': File exists.",
	} {
		if got := lockIn(&Failure{Code: 128, Said: said}); !strings.HasPrefix(got, "/r/.git/") {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// TestFailuresSayWhatGitSaid: also that it took too long, and its hooks end with it.
func TestFailuresSayWhatGitSaid(t *testing.T) {
	b := oneCommit(t)
	b.write(".git/hooks/post-checkout", "#!/bin/sh\necho $$ >"+b.dir+"/../pid\nexec tail -f /dev/null\n")
	b.must(os.Chmod(filepath.Join(b.dir, ".git/hooks/post-checkout"), 0o755))
	w := b.want("slow")
	err := w.Add(WithHooks(ctx), 500*time.Millisecond)
	var f *Failure
	if !errors.As(err, &f) || f.Late == 0 || !strings.Contains(err.Error(), "git worktree add did not end within 500ms") {
		t.Errorf("a slow hook: %v", err)
	}
	if err := w.Free(ctx); err != nil {
		t.Errorf("something stands: %v", err)
	}
	if _, err := Changed(ctx, b.dir, "nowhere"); !errors.As(err, &f) || f.Said == "" {
		t.Errorf("a commit that is not there: %v", err)
	}
}

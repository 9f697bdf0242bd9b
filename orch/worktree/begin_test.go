package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// atWork is git in a folder, and a file written below it.
func atWork(t *testing.T, dir string) (run func(...string), write func(name, text string)) {
	run = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=dev", "-c", "user.email=dev@example.invalid"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write = func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return run, write
}

// TestSince: what a working tree shows of changes since a moment, seen from a folder in it: committed, staged, neither,
// untracked, renamed, removed, ignored files that were there, and not what was there before.
func TestSince(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	run, write := atWork(t, dir)
	if _, err := BeginOf(ctx, dir); !errors.Is(err, ErrNone) {
		t.Errorf("a folder without git: %v", err)
	}
	run("init", "-q")
	write("sub/early", "1")
	if b, err := BeginOf(ctx, dir); err != nil || b.Commit != "" || len(b.Changed) != 1 {
		t.Errorf("before the first commit: %+v, %v", b, err)
	}
	for _, name := range []string{"sub/a", "sub/b", "sub/c", "sub/d", "sub/e", "top"} {
		write(name, "1")
	}
	write(".gitignore", "*.env\nout/\n")
	run("add", "-A")
	run("commit", "-qm", "first")
	for _, name := range []string{"a.env", "sub/b.env", "sub/c.env", "out/x"} {
		write(name, "1")
	}
	write("sub/a", "dirty before")
	write("sub/b", "dirty before")
	write("sub/new before", "1")
	sub := filepath.Join(dir, "sub")
	b, err := BeginOf(ctx, sub)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Since(ctx, sub, b); err != nil || len(got) != 0 {
		t.Errorf("nothing was changed: %q, %v", got, err)
	}
	if b, err = BeginOf(ctx, sub); err != nil {
		t.Fatal(err)
	}
	write("top", "2") // beside the folder
	write("a.env", "over it")
	write("new.env", "1")
	write("out/x", "built")
	if err := os.Remove(filepath.Join(dir, "sub/b.env")); err != nil {
		t.Fatal(err)
	}
	write("sub/b", "dirty again")
	write("sub/c", "2")
	run("commit", "-qm", "second", "sub/c")
	write("sub/d", "2")
	run("add", "sub/d")
	run("mv", "sub/e", "sub/f")
	write("sub/ü new", "1")
	soon := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "sub/b"), soon, soon); err != nil { // written within one tick of a coarse clock
		t.Fatal(err)
	}
	later, err := b.Later(ctx, sub)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Since(ctx, sub, b)
	slices.Sort(got)
	if want := []string{"../a.env", "../top", "b", "b.env", "c", "d", "e", "f", "ü new"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	write("sub/a", "1") // as it was committed, and not as it was dirty before
	write("sub/d", "another")
	got, err = Since(ctx, sub, later)
	slices.Sort(got)
	if want := []string{"a", "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("since later: %q, %v, want %q", got, err, want)
	}
}

// TestSinceUnseen: a file at which git is told not to look, and one that it is told to leave out, are found all the same; what
// a person had told it so before, or a sparse checkout leaves out, is no change.
func TestSinceUnseen(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	run, write := atWork(t, dir)
	since := func(b Begin, want ...string) {
		t.Helper()
		got, err := Since(ctx, filepath.Join(dir, "sub"), b)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	begin := func(whole bool) Begin {
		t.Helper()
		b, err := BeginOf(ctx, filepath.Join(dir, "sub"))
		if err != nil || b.Whole != whole {
			t.Errorf("%+v, %v", b, err)
		}
		return b
	}
	run("init", "-q")
	for _, name := range []string{"sub/a", "assumed", "skipped", "gone", "mine", "far/f", "far/away"} {
		write(name, "1")
	}
	run("add", "-A")
	run("commit", "-qm", "first")
	run("update-index", "--assume-unchanged", "mine")
	write("mine", "as a person had it")
	b := begin(true)
	since(b)
	b = begin(true)
	run("update-index", "--assume-unchanged", "assumed")
	run("update-index", "--skip-worktree", "skipped", "gone")
	since(b)
	b = begin(true)
	write("assumed", "other")
	write("skipped", "other")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	since(b, "../assumed", "../gone", "../skipped")
	run("reset", "-q", "--hard")
	run("sparse-checkout", "set", "sub")
	b = begin(false)
	since(b)
	b = begin(false)
	write("far/f", "put there anew")
	since(b, "../far/f")
}

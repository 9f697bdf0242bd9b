package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bench is a repository of a test.
type bench struct {
	*testing.T
	dir string // the main working tree
}

// newBench makes a repository with one commit, of a person whose settings are nobody else's.
func newBench(t *testing.T, args ...string) *bench {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	b := &bench{t, filepath.Join(t.TempDir(), "repo")}
	b.git("", "config", "--global", "user.name", "Somebody")
	b.git("", "config", "--global", "user.email", "somebody@example.com")
	b.git("", "config", "--global", "protocol.file.allow", "always")
	b.git("", append(append([]string{"init", "-q", "-b", "main"}, args...), b.dir)...)
	return b
}

func oneCommit(t *testing.T) *bench {
	b := newBench(t)
	b.write("a.txt", "1\n")
	b.commit("", "one")
	return b
}

// git runs git in a folder, "" for the main working tree.
func (b *bench) git(dir string, args ...string) string {
	b.Helper()
	out, err := b.try(dir, args...)
	if err != nil {
		b.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (b *bench) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	if dir == "" {
		dir = b.dir
	}
	if _, err := os.Stat(dir); err == nil {
		cmd.Dir = dir
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// write writes a file; one without a slash at the beginning is in the main working tree.
func (b *bench) write(name, text string) {
	b.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(b.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// commit commits all that stands in a folder.
func (b *bench) commit(dir, message string) string {
	b.Helper()
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return b.git(dir, "rev-parse", "HEAD")
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// want is a worktree beside the repository, from its commit.
func (b *bench) want(name string) Want {
	return Want{Repo: b.dir, Path: filepath.Join(filepath.Dir(b.dir), "repo-worktrees", name), Branch: "st/r1-" + name, Base: b.git("", "rev-parse", "HEAD"), New: true}
}

func (b *bench) add(name string) Want {
	b.Helper()
	w := b.want(name)
	b.must(w.Free(ctx))
	b.must(w.Add(ctx, time.Minute))
	return w
}

var ctx = context.Background()

func TestFind(t *testing.T) {
	b := oneCommit(t)
	b.write("sub/x y/z", "")
	w := b.add("one")
	bare := filepath.Join(t.TempDir(), "bare.git")
	b.git("", "clone", "-q", "--bare", b.dir, bare)
	for name, c := range map[string]struct {
		path string
		want Repo
	}{
		"top":      {b.dir, Repo{Main: b.dir, Top: b.dir}},
		"below":    {b.dir + "/sub/x y", Repo{Main: b.dir, Top: b.dir, Prefix: "sub/x y"}},
		"worktree": {w.Path, Repo{Main: b.dir, Top: w.Path}},
		"git dir":  {b.dir + "/.git", Repo{Main: b.dir}},
		"bare":     {bare, Repo{Main: bare, Bare: true}},
	} {
		got, err := Find(ctx, c.path)
		got.Common = ""
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, not %+v", name, got, err, c.want)
		}
	}
	if _, err := Find(ctx, t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
}

func TestNamesOfCommitsAndBranches(t *testing.T) {
	b := oneCommit(t)
	for name, good := range map[string]bool{"st/r1-a": true, "a..b": false, "-x": false, "@{-1}": false, "a b": false, "x.lock": false, "": false, "st/": false} {
		if is, err := GoodBranch(ctx, b.dir, name); is != good || err != nil {
			t.Errorf("branch %q: %v, %v", name, is, err)
		}
	}
	for _, name := range []string{"nothing", "--all", "", "HEAD:a.txt"} {
		if _, err := Commit(ctx, b.dir, name); !errors.Is(err, ErrNoCommit) {
			t.Errorf("commit %q: %v", name, err)
		}
	}
	fresh := newBench(t)
	if branch, commit, err := Head(ctx, fresh.dir); branch != "main" || commit != "" || err != nil {
		t.Errorf("a repository without commits: %q %q %v", branch, commit, err)
	}
	b.write("sub/a", "")
	b.commit("", "two")
	for path, has := range map[string]bool{"sub": true, "a.txt": false, "no": false} {
		if is, err := HasFolder(ctx, b.dir, "HEAD", path); is != has || err != nil {
			t.Errorf("folder %q: %v, %v", path, is, err)
		}
	}
}

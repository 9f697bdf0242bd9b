package worktree

import (
	"os"
	"testing"
)

// TestChanges: two commits make the same change where nothing but its place differs.
func TestChanges(t *testing.T) {
	b := oneCommit(t)
	b.write("p.png", "\x00one\x00")
	base := b.commit("", "base")
	tip := func(name, text, picture string) string {
		b.git("", "checkout", "-q", base)
		b.write("a.txt", text)
		b.write("p.png", picture)
		return b.commit("", name)
	}
	ours := tip("ours", "1\n\tx\n", "\x00two\x00")
	for _, c := range []struct {
		name, commit, want string
	}{
		{"the same", tip("same", "1\n\tx\n", "\x00two\x00"), Squashed},
		{"other blanks", tip("blanks", "1\n  x\n", "\x00two\x00"), NotLanded},
		{"another picture", tip("picture", "1\n\tx\n", "\x00six\x00"), NotLanded},
	} {
		b.git("", "checkout", "-q", c.commit)
		b.must(os.WriteFile(b.dir+"/a.txt", []byte("other\n"), 0o644)) // so that a merge would conflict
		if got, err := Landed(ctx, b.dir, base, ours, b.commit("", "later")); err != nil || got != c.want {
			t.Errorf("%s: %q, not %q: %v", c.name, got, c.want, err)
		}
	}
}

// TestWhatWasNoted: the lines of a git that says something else prove nothing, and its names may hold anything.
func TestWhatWasNoted(t *testing.T) {
	b := oneCommit(t)
	b.write("a\tb\n c", "x\n")
	b.git("", "add", "-A")
	list, err := indexOf(ctx, b.dir)
	if err != nil || len(list) != 2 || list[0].name != "a\tb\n c" || list[1].name != "a.txt" {
		t.Fatalf("%+v, %v", list, err)
	}
	if none := (noted{}); list[0].noted == none || list[1].noted == none {
		t.Errorf("nothing is noted: %+v", list)
	}
	for _, lines := range []string{"", "  ctime: 1:2\n  mtime: 3:x\n", "  ctime: 99999999999:2\n"} {
		if got := notedBy(lines); got != (noted{}) {
			t.Errorf("%q: %+v", lines, got)
		}
	}
	if _, err := readIndex("100644 a.txt\x00"); err == nil {
		t.Error("half an entry is one")
	}
}

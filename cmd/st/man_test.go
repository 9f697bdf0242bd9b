package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestManPage: each verb that people type is in it, each line is text or one of the commands that are meant, and where
// groff is there it has nothing to complain of.
func TestManPage(t *testing.T) {
	page := manPage()
	for _, v := range verbs {
		if shown := strings.Contains(page, "\n.B "+roff(v.usage())+"\n"); shown == v.hidden {
			t.Errorf("%s: in the page: %v", v.path(), shown)
		}
	}
	known := regexp.MustCompile(`^\.(TH|SH|TP|PP|RS|RE|B|BR|I|br|nf|fi)( |$)`)
	for n, l := range strings.Split(page, "\n") {
		if strings.HasPrefix(l, ".") && !known.MatchString(l) || strings.HasPrefix(l, "'") {
			t.Errorf("line %d is a command: %s", n+1, l)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed: the page was not set")
	}
	c := exec.Command(groff, "-man", "-Tutf8", "-ww", "-Kutf8", "-z")
	c.Stdin = strings.NewReader(page)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %.2000s", err, out)
	}
}

func TestRoff(t *testing.T) {
	if got := roff("a-b \\x\n.TH\n'c"); got != "a\\-b \\ex\n\\&.TH\n\\&'c" {
		t.Errorf("got %q", got)
	}
}

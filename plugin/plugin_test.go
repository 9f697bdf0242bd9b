package plugin

import (
	"strings"
	"testing"
)

var job = Job{Worker: "w2", Run: "r1", Task: "t4", Dispatch: "d7", Command: "st"}

func TestRecipeNamesTheExactCommand(t *testing.T) {
	got := recipe(job)
	for _, want := range []string{
		"worker w2", "run r1",
		"\n   st worker done --dispatch d7 --summary 'what was done and how it was checked'\n",
		"--outcome failed", "--report FILE", "st worker progress '",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the recipe lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "{{") {
		t.Errorf("a name without its value:\n%s", got)
	}
	for _, line := range strings.Split(got, "\n") {
		if line == "---" {
			t.Errorf("there is a separator inside the recipe:\n%s", got)
		}
		if len([]rune(line)) > 120 {
			t.Errorf("a line of %d characters: %q", len([]rune(line)), line)
		}
	}
}

func TestCopyKeepsTheTaskByteForByte(t *testing.T) {
	spec := "  first line\r\n---\nend without line feed"
	got := Copy(job, spec)
	head, task, found := strings.Cut(got, separator)
	if !found || task != spec {
		t.Fatalf("the task came out as %q", task)
	}
	if head != recipe(job) {
		t.Fatal("the text before the separator is not the recipe")
	}
}

func TestAnOddCommandIsQuoted(t *testing.T) {
	j := job
	j.Command = "/home/a b/it's/st"
	want := `'/home/a b/it'\''s/st' worker done --dispatch d7 `
	if got := recipe(j); !strings.Contains(got, want) {
		t.Fatalf("want %q in:\n%s", want, got)
	}
}

//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch"
)

// nasty are summaries with what shells, agents and records stumble over.
var nasty = []string{
	"ran `go test ./...` and it passed",
	"it costs $5 a month",
	"it's done, and Bob's part isn't",
	`renamed "old name" to "new name"`,
	`the flag 'fast' is gone`,
	"wrote to $HOME/notes, not to ${TMPDIR}",
	"first line\nsecond line\n\nlast line",
	"shipped 🚀 with 👩‍💻 and e\u0301",
	"a; b & c | d > e < f && g || h",
	"fixed #42 # not a comment",
	"works! Really!! !important",
	`path C:\new\table and a \d+ pattern`,
	"matched *.go and file?.txt, [ab] and {c,d}, ~ too",
	"-x and --force were added, that's all",
	strings.TrimSpace(strings.Repeat("4 KB of words, costs $1, `code` and \"quotes\". ", 88)),
	"한국어 요약: 모두 통과했습니다",
	"tab\there and\tthere",
	"100% done, %s and %d stay",
	"changed /etc/app/conf.d/10-main.conf and ../up",
	`{"ok":true,"items":["a","b"],"n":null}`,
	`an unbalanced " quote and a lone ( too`,
}

// form is how a model writes a report's command.
type form struct {
	name  string
	write func(b *desk, s string) string
}

// single is a text in single quotes as sh wants it; double one in double quotes as models write it: quotes
// escaped, dollars and backticks not.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
func double(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

var forms = []form{
	{"double quotes", func(_ *desk, s string) string { return "st worker done --summary " + double(s) }},
	{"single quotes", func(_ *desk, s string) string { return "st worker done --summary " + single(s) }},
	{"bare single quotes", func(_ *desk, s string) string { return "st worker done --summary '" + s + "'" }},
	{"heredoc", func(_ *desk, s string) string {
		return "st worker done --summary \"$(cat <<'EOF'\n" + s + "\nEOF\n)\""
	}},
	{"echo pipe", func(_ *desk, s string) string { return "echo " + single(s) + " | st worker done --summary \"$(cat)\"" }},
	{"cd in front", func(b *desk, s string) string { return "cd " + b.dir + " && st worker done --summary " + single(s) }},
	{"absolute path", func(b *desk, s string) string {
		return filepath.Join(b.home, "bin", "st") + " worker done --summary " + double(s)
	}},
	{"with equals", func(_ *desk, s string) string { return "st worker done --summary=" + double(s) }},
	{"another shell", func(_ *desk, s string) string { return "bash -lc " + single("st worker done --summary "+single(s)) }},
	{"and more behind", func(_ *desk, s string) string {
		return "st worker done --summary " + double(s) + " --files 'a.go,b.go' 2>&1 | tail -5"
	}},
	{"in $()", func(_ *desk, s string) string { return "st worker done --summary \"$(printf '%s' " + single(s) + ")\"" }},
	{"variable", func(_ *desk, s string) string {
		return "S=" + single(s) + "\nst worker done --summary \"$S\" && echo reported"
	}},
	{"ANSI quotes", func(_ *desk, s string) string {
		return "st worker done --summary $'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(s) + "'"
	}},
}

// TestNastySummaries lets workers of both kinds, in their default modes with nothing allowed, report such texts in
// such forms. Nobody may be asked, and each text must arrive as it was meant: at once, or with the line that the
// refusal taught. All but the first of a worker are kept as notes, word by word.
func TestNastySummaries(t *testing.T) {
	b := newDesk(t)
	kinds := []string{"claude", "codex"}
	for part := range count(1, len(forms)) {
		for i, kind := range kinds { // both at once: they wait more than they compute
			b.nasty(kind, fmt.Sprintf("w%d", part*len(kinds)+i+1), part)
		}
		for i, kind := range kinds {
			id := fmt.Sprintf("w%d", part*len(kinds)+i+1)
			b.judgeNasty(kind, id, part)
			b.st("worker", "stop", id, "--yes")
		}
	}
}

// allNasty is what stands in the file of the last report.
func allNasty() string { return strings.Join(nasty, "\n") }

// nasty lets one worker report all texts, the i-th in the form i+part.
func (b *desk) nasty(kind, id string, part int) {
	b.t.Helper()
	var task strings.Builder
	for i, s := range nasty {
		command, err := json.Marshal(forms[(i+part)%len(forms)].write(b, s))
		if err != nil {
			b.t.Fatal(err)
		}
		fmt.Fprintf(&task, "MOCK: bash-json %s\nMOCK: as-taught\n", command)
	}
	b.write("report-"+id+".md", allNasty())
	fmt.Fprintf(&task, "MOCK: bash st worker done --summary 'see the file' --report report-%s.md\nMOCK: say All is reported.\n", id)
	b.write("task.md", task.String())
	if out, code := b.stCode("worker", "start", "--session", "desk", "--agent", kind, "--name", "n"+id, "--task", "task.md"); code != 0 {
		b.t.Fatalf("the start ends with %d: %s\n%s", code, out, b.scene())
	}
}

// judgeNasty holds what was reported against the texts, in their order.
func (b *desk) judgeNasty(kind, id string, part int) {
	b.t.Helper()
	got := b.reports(id)
	if n := len(got); n == 0 || got[n-1].Text != allNasty() {
		b.t.Errorf("%s: %d reports, and the last one's file did not come whole", kind, n)
	}
	for i, s := range append(nasty, "see the file") {
		form := "file"
		if i < len(nasty) {
			form = forms[(i+part)%len(forms)].name
		}
		if len(got) > 0 && got[0].Summary == s {
			got = got[1:]
		} else {
			b.t.Errorf("%s: %q in %s: not reported", kind, s, form)
		}
	}
	for _, r := range got {
		b.t.Errorf("%s: reported, and meant otherwise: %q", kind, r.Summary)
	}
	if b.t.Failed() {
		b.t.Log(b.scene())
	}
}

// workers are how the workers stand, in the words of --json.
func (b *desk) workers() []orch.WorkerInfo {
	b.t.Helper()
	var said struct {
		Data struct {
			Workers []orch.WorkerInfo `json:"workers"`
		} `json:"data"`
	}
	raw := b.st("worker", "ls", "--json")
	if err := json.Unmarshal([]byte(raw), &said); err != nil {
		b.t.Fatalf("%v in %s", err, raw)
	}
	return said.Data.Workers
}

// reports are a worker's reports in the run's record, its notes too, in the order in which they came, as soon as
// the last has come. Whoever is asked something meanwhile is a failure.
func (b *desk) reports(worker string) []orch.RunReport {
	b.t.Helper()
	var mine []orch.RunReport
	b.await(2*time.Minute, "the run's record tells of the last report", func() (bool, string) {
		mine = nil
		raw, err := os.ReadFile(filepath.Join(b.stHome, "orch", "r1", "run.json"))
		if err != nil {
			return false, err.Error()
		}
		var f orch.RunFile
		if err := json.Unmarshal(raw, &f); err != nil {
			return false, err.Error()
		}
		for _, r := range f.Reports {
			if r.Worker == worker {
				mine = append(mine, r)
			}
		}
		for _, w := range b.workers() {
			if w.ID == worker && w.State == "needs_input" {
				b.t.Fatalf("%s asks a person: %s\n%s", worker, w.WaitingFor, b.scene())
			}
		}
		return len(mine) > 0 && mine[len(mine)-1].Text != "", fmt.Sprintf("%d reports", len(mine))
	})
	return mine
}

//go:build linux || darwin

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/orch/proc/proctest"
)

// TestCoordinator is the main job as a person sees it: a real coordinator in its default permission mode is
// asked once, starts two real workers by st in its own shell, waits, reads and says what came of it. No key
// is pressed after the asked. The person has allowed the single verbs that a coordinator needs; st
// knows the coordinator by its process alone, without hooks.
func TestCoordinator(t *testing.T) {
	runs := count(1, 10)
	var table []took
	for i := range runs {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) { table = append(table, coordinate(t, "default")...) })
	}
	t.Run("auto", func(t *testing.T) { table = append(table, coordinate(t, "auto")...) })
	report(t, table)
}

const plan = `# What I want
Start two workers for the two files in tasks/, wait for both, read both, and tell me their summaries.
MOCK: bash st orch start --objective 'two small things'
MOCK: bash st worker start --agent claude --name one --task tasks/one.md
MOCK: bash st worker start --agent claude --name two --task 'tasks/two words.md'
MOCK: bash st worker wait --timeout 100s
MOCK: bash st worker read one
MOCK: bash st worker read two
MOCK: say Both are done: see the summaries above.
`

const asked = "Please do what plan.md says."

// summaries are what the workers report; the coordinator has to come by them through st alone.
var summaries = []string{"one is done: 3 files, checked by eye", `two is done: "quotes" and 한글 survive`}

func coordinate(t *testing.T, mode string) []took {
	b := newDesk(t)
	b.allow(mode, "Bash(st orch start:*)", "Bash(st worker start:*)", "Bash(st worker wait:*)", "Bash(st worker read:*)")
	b.write("plan.md", plan)
	b.write("tasks/one.md", "# One\nMOCK: say I begin.\nMOCK: bash st worker progress 'half way'\nMOCK: bash st worker done --summary '"+summaries[0]+"'\nMOCK: say One has been reported.\n")
	b.write("tasks/two words.md", "# Two\nMOCK: bash st worker done --summary '"+summaries[1]+"'\nMOCK: say Two has been reported.\n")
	defer b.busy(2)()

	pane := b.open("claude")
	b.ask(pane, asked)
	b.await(2*time.Minute, "the coordinator says that both are done", func() (bool, string) {
		said := b.said(pane)
		return strings.Contains(said, "Both are done"), said
	})
	return b.judge("claude", asked, "two small things", summaries)
}

// judge holds the run's record and what the coordinator's own log says against what the workers were told to
// report, and ends the run.
func (b *desk) judge(coordinator, request, objective string, want []string) []took {
	b.t.Helper()
	log := b.log(coordinator, request)
	for _, s := range want {
		if !strings.Contains(log, s) {
			b.t.Errorf("the coordinator never read the summary %q", s)
		}
	}
	f := b.runFile("r1")
	if len(f.Dispatches) != len(want) || len(f.Reports) != len(want) || f.Objective != objective || f.Coordinator == "" {
		b.t.Fatalf("run.json: %d dispatches, %d reports, objective %q, coordinator %q", len(f.Dispatches), len(f.Reports), f.Objective, f.Coordinator)
	}
	var all []took
	for i, d := range f.Dispatches {
		r := f.Reports[i]
		if d.Delivery != orch.Delivered || r.Dispatch != d.ID || r.Summary != want[i] || r.Outcome != "succeeded" {
			b.t.Errorf("dispatch %s: delivery %s, report %+v", d.ID, d.Delivery, r)
		}
		s := tookOf(d)
		s["report"] = r.At.Sub(d.Created)
		all = append(all, s)
	}
	b.st("orch", "end", "r1", "--close")
	b.await(20*time.Second, "the workers' windows are closed", func() (bool, string) {
		names := b.tmux.Run("list-windows", "-a", "-F", "#{window_name}")
		return !strings.Contains(names, "one") && !strings.Contains(names, "two"), names
	})
	return all
}

// took are the times of one start, since it was asked for.
type took map[string]time.Duration

func tookOf(d orch.RunDispatch) took {
	s := took{}
	for name, at := range map[string]*time.Time{"window": d.Opened, "agent": d.Started, "ready": d.Ready, "typed": d.Typed, "verified": d.Verified, "submitted": d.Submitted, "turn": d.Turn} {
		if at != nil {
			s[name] = at.Sub(d.Created)
		}
	}
	return s
}

// report prints the table of stage times.
func report(t *testing.T, all []took) {
	out := &bytes.Buffer{}
	fmt.Fprintf(out, "%d starts\n%-10s %9s %9s %9s\n", len(all), "stage", "p50", "p99", "max")
	for _, name := range []string{"window", "agent", "ready", "typed", "verified", "submitted", "turn", "report"} {
		var l []time.Duration
		for _, s := range all {
			if d, ok := s[name]; ok {
				l = append(l, d)
			}
		}
		if len(l) == 0 {
			continue
		}
		sort.Slice(l, func(i, j int) bool { return l[i] < l[j] })
		ms := func(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
		fmt.Fprintf(out, "%-10s %9s %9s %9s\n", name, ms(l[len(l)/2]), ms(l[(len(l)*99)/100]), ms(l[len(l)-1]))
	}
	t.Log("\n" + out.String())
}

// st runs a verb as a person at a shell would, and returns its output.
func (b *desk) st(args ...string) string {
	b.t.Helper()
	out, code := b.stCode(args...)
	if code != 0 {
		b.t.Fatalf("st %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// stCode is st for a verb that may end with another code than 0. out is what both its outputs say, or, with --json, its
// standard output alone.
func (b *desk) stCode(args ...string) (out string, code int) {
	b.t.Helper()
	cmd := exec.Command(filepath.Join(b.home, "bin", "st"), args...)
	cmd.Env, cmd.Dir = b.env(), b.dir
	var said bytes.Buffer
	cmd.Stdout = &said
	if !slices.Contains(args, "--json") {
		cmd.Stderr = &said
	}
	err := proctest.Run(cmd)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("st %s: %v", strings.Join(args, " "), err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

func (b *desk) runFile(run string) orch.RunFile {
	b.t.Helper()
	var f orch.RunFile
	b.await(20*time.Second, "the file of run "+run, func() (bool, string) { // it is written shortly after each change
		raw, err := os.ReadFile(filepath.Join(b.stHome, "orch", run, "run.json"))
		if err == nil {
			err = json.Unmarshal(raw, &f)
		}
		return err == nil, fmt.Sprint(err)
	})
	return f
}

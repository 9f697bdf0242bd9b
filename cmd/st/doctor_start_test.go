//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch/proc"
)

// What fakes of an agent do, each in a shell: its line is drawn as the real program draws it.
const (
	fakeLine   = `printf '\033[2J\033[H────────────\n❯\302\240%s\n────────────\n\033[2;3H' "$1"; `
	fakeHook   = `told() { sed -n 's/.*"command": "\(.*\)",*$/\1/p' "$settings" | head -n 1 >run; echo "{\"hook_event_name\":\"$1\",\"session_id\":\"0b0b0b0b-0000-4000-8000-000000000000\",\"source\":\"startup\",\"reason\":\"other\",\"cwd\":\"/\"}" | sh run; }; `
	fakeWaits  = `read -r line`
	fakeDialog = `printf '\033[2J\033[H────────────\n Accessing workspace:\n\n ❯ 1. Yes\n   2. No\033[4;2H'; exec sleep 60`
)

// TestTrial: what doctor says of a real start, whatever the program does, and that nothing of it is left.
func TestTrial(t *testing.T) {
	const never = 400 * time.Millisecond
	for _, c := range []struct {
		name, does string
		wait       times    // what is zero is as usual
		want       []string // a stage, its result and a part of what was found, each
	}{
		{"good", fakeHook + `told SessionStart; ` + fakeLine + fakeWaits, times{}, []string{
			"start ok its input line was up after", "heard ok its start hook has come", "quit ok it was asked to by a signal, and has ended after"}},
		{"ends at once", `echo "unknown flag --settings"; until tmux capture-pane -p -t "$TMUX_PANE" | grep -q unknown; do :; done; exit 3`, times{}, []string{"start fail it ended at once, without an input line: unknown flag --settings"}},
		{"not signed in", `printf '\033[2J\033[H\033[?25lWelcome to Claude Code v2\n\n pick a theme\n'; exec sleep 60`, times{}, []string{"start fail it is not signed in (login"}},
		{"asks for trust", fakeDialog, times{}, []string{"start warn it asks first whether it may trust "}},
		{"shows no line", `echo loading; exec sleep 60`, times{line: never}, []string{`start fail no input line within 400ms; it shows "loading"`}},
		{"tells nothing", fakeLine + fakeWaits, times{hear: never}, []string{"start ok", "heard fail its input line is up, and no start hook has come within", "quit ok"}},
		{"tells something else", fakeHook + `told SessionEnd; ` + fakeLine + fakeWaits, times{hear: 2 * time.Second}, []string{"start ok", "heard fail its input line is up, and no start hook has come; one has told of session-ended", "quit ok"}},
		{"does not end", `trap '' HUP TERM INT; (trap '' HUP; exec sleep 61) & echo $! >child; ` + fakeHook + `told SessionStart; ` + fakeLine + `while :; do read -r line || sleep 1; done`,
			times{quit: never, end: never}, []string{"start ok", "heard ok", "quit fail it "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "claude")
			if err := os.WriteFile(path, []byte("#!/bin/sh\necho $$ >pid; settings=$2; set --\n"+c.does+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			try := newTrial(t, "claude", path, dir)
			for _, o := range []struct{ mine, as *time.Duration }{
				{&c.wait.line, &try.wait.line}, {&c.wait.hear, &try.wait.hear}, {&c.wait.quit, &try.wait.quit}, {&c.wait.end, &try.wait.end},
			} {
				if *o.mine != 0 {
					*o.as = *o.mine
				}
			}
			var got []string
			for _, f := range try.run(context.Background()) {
				got = append(got, f.Name+" "+f.Result+" "+f.Found)
			}
			if len(got) != len(c.want) {
				t.Errorf("it said %q", got)
			}
			for i := range min(len(got), len(c.want)) {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("%s\nwant %s", got[i], c.want[i])
				}
			}
			nothingLeft(t, try, dir)
		})
	}
}

// TestTrialForgets: a conversation that the program keeps of the trial is deleted by the program itself.
func TestTrialForgets(t *testing.T) {
	const id = "0b0b0b0b-0000-4000-8000-000000000000"
	dir := t.TempDir()
	path := filepath.Join(dir, "codex")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+`[ "$1" = delete ] && echo "$*" >"$HOME/deleted" && exit
ended() { echo '{"hook_event_name":"SessionEnd","session_id":"`+id+`","reason":"other","cwd":"/"}' | st hook codex launch; exit; }
trap ended INT
printf '\033[2J\033[H› \n\n  status\033[1;3H'
while :; do sleep 0.1; done
`), 0o755); err != nil {
		t.Fatal(err)
	}
	try := newTrial(t, "codex", path, dir)
	try.wait.steady = 300 * time.Millisecond
	var got []string
	for _, f := range try.run(context.Background()) {
		got = append(got, f.Name+" "+f.Result)
		if f.Result != resultOK {
			t.Errorf("%+v", f)
		}
	}
	deleted, err := os.ReadFile(filepath.Join(dir, "deleted"))
	if strings.Join(got, ", ") != "start ok, quit ok, heard ok" || err != nil || string(deleted) != "delete --force "+id+"\n" {
		t.Errorf("%q, deleted %q (%v)", got, deleted, err)
	}
	nothingLeft(t, try, dir)
}

// newTrial is a trial of a program that stands for that of a kind.
func newTrial(t *testing.T, name, path, dir string) *trial {
	t.Helper()
	kind, err := hooks.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	self, err := exec.LookPath("st")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
	return &trial{doctor: &doctor{self: self, only: name}, kind: kind, path: path, dir: dir, env: env, wait: asUsual}
}

// nothingLeft wants the processes of a trial and its folder to be gone.
func nothingLeft(t *testing.T, try *trial, dir string) {
	t.Helper()
	if _, err := os.Stat(try.own); !os.IsNotExist(err) {
		t.Errorf("%s is left (%v)", try.own, err)
	}
	for _, name := range []string{"pid", "child"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // most have no child
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := proc.Of(pid); err == nil {
			t.Errorf("%s: process %s runs", name, fmt.Sprint(p))
		}
	}
}

// TestTrialInterrupted: who ends doctor in the middle of a start finds nothing left of it.
func TestTrialInterrupted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho $$ >pid; exec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "pid")); err == nil {
				cancel()
			}
			pauseLook(ctx)
		}
	}()
	try := newTrial(t, "claude", path, dir)
	try.run(ctx)
	nothingLeft(t, try, dir)
}

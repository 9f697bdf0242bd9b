//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/orch/daemon"
	"st/orch/journal"
	"st/orch/proc"
)

// The rows of hooks are measured by a probe: this program again, run by the built-in agent in a worker's pane, so
// that each hook has the ancestry that a real one has and belongs to an agent.
const probeVerb = "probe-hooks"

// probePlan is what the probe is to measure.
type probePlan struct {
	ST, Empty, Python, Node, JQ string // programs; "" for what isn't installed
	PythonScript, NodeScript    string
	JQScript                    string
	Lonely                      string // a home without a daemon
	Samples, Stuck, Rounds      int
	Result, Release             string // files: where the result goes, and what ends the probe once it is there
}

// probeResult is what it found.
type probeResult struct {
	PID    int
	Error  string
	Series map[string]series
	Stuck  stuckResult
	Burst  series
}

type stuckResult struct {
	Spooled int // of len(Series["stuck"])
	Said    int // bytes of output
}

// hooks measures all rows of hooks.
func (b *bench) hooks() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	plan, err := r.probePlan()
	if err != nil {
		return err
	}
	got, err := r.probe(plan)
	if err != nil {
		return err
	}
	kept, err := r.turnEnds()
	if err != nil {
		return err
	}
	if err := r.releaseProbe(plan, got); err != nil {
		return err
	}
	b.hookRows(plan, got, kept)
	return nil
}

func (b *bench) hookRows(plan probePlan, got probeResult, kept int) {
	t, s := &b.table, got.Series
	t.ratio("hook-ack", "empty Go program", s["ack"], s["empty"], 2.0)
	if plan.Python != "" {
		t.ratio("hook-ack", "python3", s["ack"], s["python"], 0.12)
	}
	if plan.Node != "" {
		t.ratio("hook-ack", "node", s["ack"], s["node"], 0.06)
	}
	t.ratio("hook-durable", "hook-ack", s["durable"], s["ack"], 1.4)
	t.ratio("hook-nodaemon", "hook-ack", s["lonely"], s["ack"], 1.1)
	if plan.JQ != "" {
		t.ratio("hook-nodaemon", "bash and jq", s["lonely"], s["jq"], 0.2)
	}
	stuck := s["stuck"]
	over := stuck.best(series.p50) - hookDeadline
	t.fact("hook-stuck", "", stuck, fmt.Sprintf("deadline + %s, %d of %d kept, %d bytes said", brief(over), got.Stuck.Spooled, len(stuck), got.Stuck.Said),
		"deadline (250 ms) + 10 ms, all kept, silent", over <= 10*time.Millisecond && got.Stuck.Spooled == len(stuck) && got.Stuck.Said == 0)
	spread := float64(got.Burst.p99()) / float64(got.Burst.p50())
	t.fact("hook-burst", "", got.Burst, fmt.Sprintf("p99 %.2g× p50, %d of %d kept", spread, kept, len(got.Burst)),
		"p99 ≤ 2.5× p50, none lost", spread <= 2.5 && kept == len(got.Burst))
}

// hookDeadline is how long a hook waits for a daemon that takes its connection and says nothing.
const hookDeadline = 250 * time.Millisecond

// probePlan builds the peers and says how often each is run.
func (r *rig) probePlan() (probePlan, error) {
	b := r.b
	p := probePlan{
		ST: b.st, Python: program("python3", "-c", "import sys; print(sys.executable)"), Node: program("node", "-p", "process.execPath"),
		Lonely:  filepath.Join(r.dir, "lonely"),
		Samples: b.samples(200, 25), Stuck: b.samples(102, 9), Rounds: 15,
		Result: filepath.Join(r.dir, "result.json"), Release: filepath.Join(r.dir, "release"),
	}
	if program("jq") != "" {
		p.JQ = program("bash")
	}
	var err error
	if p.Empty, err = r.emptyProgram(); err != nil {
		return p, err
	}
	for name, s := range map[string]struct {
		path *string
		text string
	}{"hook.py": {&p.PythonScript, pythonHook}, "hook.mjs": {&p.NodeScript, nodeHook}, "hook.sh": {&p.JQScript, jqHook}} {
		*s.path = filepath.Join(r.dir, name)
		if err := os.WriteFile(*s.path, []byte(s.text), 0o600); err != nil {
			return p, err
		}
	}
	return p, os.Mkdir(p.Lonely, 0o700)
}

// probe starts the worker that runs the probe and waits for its result.
func (r *rig) probe(plan probePlan) (probeResult, error) {
	var got probeResult
	self, err := os.Executable()
	if err != nil {
		return got, err
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return got, err
	}
	file, task := filepath.Join(r.dir, "plan.json"), filepath.Join(r.dir, "probe.md")
	err = errors.Join(os.WriteFile(file, raw, 0o600),
		os.WriteFile(task, []byte(fmt.Sprintf("run %s %s %s\n", self, probeVerb, file)), 0o600))
	if err != nil {
		return got, err
	}
	if _, err := r.run("worker", "start", "--agent", "demo", "--name", "probe", "--task", task); err != nil {
		return got, err
	}
	err = until(10*time.Minute, "the probe", func() (bool, error) {
		raw, err := os.ReadFile(plan.Result)
		if errors.Is(err, fs.ErrNotExist) {
			return false, r.b.ctx.Err()
		}
		if err != nil {
			return false, err
		}
		return true, json.Unmarshal(raw, &got)
	})
	if err == nil && got.Error != "" {
		err = errors.New(got.Error)
	}
	return got, err
}

// turnEnds ends the daemon and counts the turn ends in its history, and those that still wait in the spool for the
// next daemon. Until the probe is released the worker's own turn runs, so all of them are the burst's.
func (r *rig) turnEnds() (n int, err error) {
	if _, err := r.run("down"); err != nil {
		return 0, err
	}
	j, err := journal.Open(r.home, journal.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	const most = 1 << 20
	if n, err = waiting(daemon.SpoolDir(r.home), "Stop"); err != nil {
		return n, err
	}
	events, err := j.History(0, most)
	for _, e := range events {
		if e.Type == "turn-ended" {
			n++
		}
	}
	return n, err
}

// waiting counts the spool files that hold an event of that name.
func waiting(dir, event string) (n int, err error) {
	all, err := filepath.Glob(filepath.Join(dir, "[0-9]*.json"))
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err != nil {
			return n, err
		}
		if strings.Contains(string(raw), `"hook_event_name":"`+event+`"`) {
			n++
		}
	}
	return n, err
}

func (r *rig) releaseProbe(plan probePlan, got probeResult) error {
	p, err := proc.Of(got.PID)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	if err := errors.Join(err, os.WriteFile(plan.Release, nil, 0o600)); err != nil {
		return err
	}
	return until(10*time.Second, "the probe ends", func() (bool, error) { return !proc.Alive(p), nil })
}

// payload is what the agent gives its hook: about 0.9 KB.
func payload(event string) []byte {
	fill := strings.Repeat("a line of what the tool is to do; ", 14)
	raw, err := json.Marshal(map[string]any{
		"session_id": "6f2c1a9e-5b7d-4c11-9a51-0d6b8f2f3a77", "transcript_path": "/tmp/none/6f2c1a9e.jsonl", "cwd": "/tmp",
		"hook_event_name": event, "permission_mode": "default", "tool_name": "Bash", "prompt": fill,
		"tool_input": map[string]any{"command": "go test ./...", "description": "run the tests", "text": fill[:120]},
	})
	if err != nil {
		panic(err) // strings and maps of them
	}
	return raw
}

// The same hook in other languages: read the payload, keep the fields that are needed, send one line, read the
// answer.
const pythonHook = `import json, os, socket, sys, uuid
p = json.load(sys.stdin)
keep = {k: p[k] for k in ("hook_event_name", "session_id", "transcript_path", "cwd", "tool_name") if k in p}
e = os.environ
line = {"v": 1, "op": "do", "request": str(uuid.uuid4()), "name": "hook",
        "from": {"tmux": e.get("TMUX", ""), "pane": e.get("TMUX_PANE", ""), "nonce": e.get("ST_AGENT", ""), "dir": os.getcwd()},
        "body": {"kind": "demo", "payload": keep}}
s = socket.socket(socket.AF_UNIX)
s.connect(e["ST_HOME"] + "/run/sock")
s.sendall((json.dumps(line) + "\n").encode())
if not json.loads(s.makefile().readline())["ok"]:
    sys.exit(1)
`

const nodeHook = `import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
const p = JSON.parse(readFileSync(0, 'utf8'))
const keep = {}
for (const k of ['hook_event_name', 'session_id', 'transcript_path', 'cwd', 'tool_name']) if (k in p) keep[k] = p[k]
const e = process.env
const line = { v: 1, op: 'do', request: randomUUID(), name: 'hook',
  from: { tmux: e.TMUX ?? '', pane: e.TMUX_PANE ?? '', nonce: e.ST_AGENT ?? '', dir: process.cwd() },
  body: { kind: 'demo', payload: keep } }
const s = connect(e.ST_HOME + '/run/sock')
s.write(JSON.stringify(line) + '\n')
let got = ''
s.on('data', d => { got += d; if (got.includes('\n')) { s.destroy(); process.exitCode = JSON.parse(got).ok ? 0 : 1 } })
`

const jqHook = `set -e
p=$(cat)
dir=$ST_HOME/jq
mkdir -p "$dir"
t=$(mktemp "$dir/.new-XXXXXX")
jq -c --arg pane "$TMUX_PANE" --arg dir "$PWD" '{pane: $pane, dir: $dir, event: .hook_event_name, session: .session_id, cwd: .cwd, tool: .tool_name}' <<<"$p" >"$t"
mv "$t" "$dir/$(date +%s%N).json"
`

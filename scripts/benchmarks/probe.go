//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"st/orch/proc"
	"st/orch/proc/proctest"
)

// probe runs hooks below an agent.
type probe struct {
	plan   probePlan
	env    []string
	home   string
	result probeResult
}

func probeMain(args []string) int {
	if len(args) != 1 {
		return 2
	}
	var p probe
	raw, err := os.ReadFile(args[0])
	if err == nil {
		err = json.Unmarshal(raw, &p.plan)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p.env, p.home = os.Environ(), os.Getenv("ST_HOME")
	p.result.PID, p.result.Series = os.Getpid(), map[string]series{}
	if err := p.measure(); err != nil {
		p.result.Error = err.Error()
	}
	if err := p.hand(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// hand writes the result and waits until it has been read.
func (p *probe) hand() error {
	raw, err := json.Marshal(p.result)
	if err != nil {
		return err
	}
	temp := p.plan.Result + ".new"
	if err := errors.Join(os.WriteFile(temp, raw, 0o600), os.Rename(temp, p.plan.Result)); err != nil {
		return err
	}
	return until(time.Minute, "release", func() (bool, error) {
		_, err := os.Stat(p.plan.Release)
		return err == nil, nil
	})
}

func (p *probe) measure() error {
	if err := p.byTurns(); err != nil {
		return err
	}
	if err := p.stuck(); err != nil {
		return err
	}
	return p.burst()
}

// hook runs st as the agent's hook; it must be silent and end well.
func (p *probe) hook(env []string, event string) func() error {
	body := payload(event)
	return quiet([]string{p.plan.ST, "hook", "demo"}, env, body)
}

func quiet(argv, env []string, body []byte) func() error {
	return func() error {
		out, code, err := child(argv, env, body)
		if err == nil && (code != 0 || len(out) > 0) {
			err = fmt.Errorf("%s: ended with %d and said %q", argv[0], code, out)
		}
		return err
	}
}

// byTurns measures what can be interleaved. That a tool begins in a turn that runs is not written to disk; a
// prompt that goes in is.
func (p *probe) byTurns() error {
	lonely := with(p.env, "ST_HOME", p.plan.Lonely)
	tool := payload("PreToolUse")
	ways := []way{
		timed("empty", quiet([]string{p.plan.Empty}, p.env, tool)),
		timed("ack", p.hook(p.env, "PreToolUse")),
		timed("durable", p.hook(p.env, "UserPromptSubmit")),
		timed("lonely", p.hook(lonely, "UserPromptSubmit")),
	}
	if p.plan.Python != "" {
		ways = append(ways, timed("python", quiet([]string{p.plan.Python, p.plan.PythonScript}, p.env, tool)))
	}
	if p.plan.Node != "" {
		ways = append(ways, timed("node", quiet([]string{p.plan.Node, p.plan.NodeScript}, p.env, tool)))
	}
	if p.plan.JQ != "" {
		ways = append(ways, timed("jq", quiet([]string{p.plan.JQ, p.plan.JQScript}, lonely, tool)))
	}
	got, err := interleave(p.plan.Samples, ways...)
	if err != nil {
		return err
	}
	for name, s := range got {
		p.result.Series[name] = s
	}
	kept, err := files(filepath.Join(p.plan.Lonely, "run", "spool"))
	if err == nil && kept != p.plan.Samples+1 {
		err = fmt.Errorf("without a daemon %d of %d events were kept", kept, p.plan.Samples+1)
	}
	return err
}

// stuck stops the daemon by a signal while hooks come.
func (p *probe) stuck() (err error) {
	daemon, err := lockHolder(p.home)
	if err != nil {
		return err
	}
	if err := proctest.Stop(daemon.PID); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proc.Signal(daemon, syscall.SIGCONT)) }()
	before, err := files(filepath.Join(p.home, "run", "spool"))
	if err != nil {
		return err
	}
	body := payload("UserPromptSubmit")
	for range p.plan.Stuck {
		begun := time.Now()
		out, code, err := child([]string{p.plan.ST, "hook", "demo"}, p.env, body)
		p.result.Series["stuck"] = append(p.result.Series["stuck"], time.Since(begun))
		if err == nil && code != 0 {
			err = fmt.Errorf("a hook of a daemon that is stopped ended with %d", code)
		}
		if err != nil {
			return err
		}
		p.result.Stuck.Said += len(out)
	}
	after, err := files(filepath.Join(p.home, "run", "spool"))
	p.result.Stuck.Spooled = after - before
	return err
}

// burst runs 16 hooks at once, time after time.
func (p *probe) burst() error {
	const wide = 16
	hook := p.hook(p.env, "Stop")
	var mu sync.Mutex
	var failed error
	for range p.plan.Rounds {
		var all sync.WaitGroup
		for range wide {
			all.Go(func() {
				begun := time.Now()
				err := hook()
				took := time.Since(begun)
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
				p.result.Burst = append(p.result.Burst, took)
			})
		}
		all.Wait()
	}
	return failed
}

// lockHolder is the daemon of a home.
func lockHolder(home string) (proc.Process, error) {
	raw, err := os.ReadFile(filepath.Join(home, "run", "lock"))
	if err != nil {
		return proc.Process{}, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return proc.Process{}, err
	}
	return proc.Of(pid)
}

// files counts the whole files of a folder; a name that begins with a dot is one that is being written.
func files(dir string) (n int, err error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range all {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			n++
		}
	}
	return n, err
}

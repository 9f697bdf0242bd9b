//go:build linux || darwin

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
	"st/orch/proc/proctest"
)

// What st may say wrongly of an agent: a share of the time, in percent, and never for longer than that. One round has
// an event every few seconds, and its share grows with the load of the machine: it is held to the mark by the long run.
const wrongTime = 2 * time.Second

func wrongShare() float64 { return float64(count(30, 5)) / 10 }

// vagueShare is how much of the time, in percent, may be left undecided before the comparison says too little. Most
// of it is the time in which the agents run their hooks, and that grows with the load of the machine.
func vagueShare() float64 { return float64(count(45, 30)) }

// TestSoak drives a real agent that st has started through all that a turn can be, and compares what st says of
// it, many times a second, with what is true: which requests to its model are open, which processes run, which
// keys were pressed, and what the agent itself says. None of that is known to st in this way. Where these
// witnesses contradict each other nothing is counted; how long they do is told.
func TestSoak(t *testing.T) {
	for _, k := range soakKinds {
		t.Run(k.name, func(t *testing.T) {
			s := newSoak(t, k)
			for range count(1, 12) {
				k.drive(s)
			}
			s.hold()
		})
	}
}

// soakKind is what the soak must know of one agent program.
type soakKind struct {
	name string
	// launcher makes the program's own launcher speak to a model at another address.
	launcher func(script, model string) string
	args     []string // of worker start
	// own reads what the agent says of itself: since when, 0 for nothing.
	own func(s *soak) (states, time.Time)
	// runs reports whether a process is the agent itself.
	runs  func(proc.Info) bool
	ready func(s *soak) // prepares the home
	drive func(s *soak) // one round, from a start to an end
}

var soakKinds []soakKind

// soak is one agent under observation.
type soak struct {
	*desk
	kind    soakKind
	wire    *wire
	client  *daemon.Client
	verdict *verdict
	workers int
	round   int

	pane   string
	agent  string
	pid    int // of the agent itself
	life   *life
	all    []said
	stop   func()
	looked time.Time // when the witness looked last

	mu   sync.Mutex
	step string
}

func newSoak(t *testing.T, k soakKind) *soak {
	s := &soak{desk: newDesk(t), kind: k, verdict: newVerdict()}
	model := "127.0.0.1:" + os.Getenv("ST_BENCH_PORT")
	s.wire = newWire(model)
	t.Cleanup(s.wire.Close)
	t.Cleanup(func() { // also where the test ended in the middle
		s.end()
		t.Log("\n" + s.verdict.report())
	})
	s.tmux.Run("set-option", "-g", "default-size", "120x40")
	script, err := os.ReadFile(filepath.Join(s.home, "bin", k.name))
	if err != nil {
		t.Fatal(err)
	}
	s.program(k.name, k.launcher(string(script), s.wire.Listener.Addr().String()))
	s.program(childProgram, string(script))
	s.program("soaktool", "#!/bin/sh\nsleep \"$2\"\n")
	if k.ready != nil {
		k.ready(s)
	}
	return s
}

// childProgram is the agent program as it is run in a tool: what it asks of its model does not pass our wire.
const childProgram = "soakchild"

// program puts a program where the agents find it, until the test ends.
func (b *desk) program(name, script string) {
	b.t.Helper()
	path := filepath.Join(b.home, "bin", name)
	old, err := os.ReadFile(path)
	b.t.Cleanup(func() {
		restore := os.Remove
		if err == nil {
			restore = func(path string) error { return os.WriteFile(path, old, 0o700) }
		}
		if err := restore(path); err != nil {
			b.t.Error(err)
		}
	})
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		b.t.Fatal(err)
	}
}

// start lets st start a worker with a task, and observes its agent from then on.
func (s *soak) start(task ...string) {
	s.t.Helper()
	s.workers++
	s.now("start")
	name := fmt.Sprintf("soak%d", s.workers)
	s.write(name+".md", strings.Join(task, "\n")+"\n")
	l := &life{began: time.Now()}
	s.wire.follow(l)
	s.life, s.all, s.pane, s.agent, s.pid = l, nil, "", "", 0
	args := []string{"worker", "start", "--agent", s.kind.name, "--name", name, "--task", name + ".md", "--session", "desk", "--detach"}
	for _, a := range s.kind.args {
		args = append(args, "--arg="+a)
	}
	s.st(args...)
	s.await(10*time.Second, "st lists the agent", func() (bool, string) {
		info, err := s.ask1(name)
		s.pane, s.agent = info.Pane, info.ID
		return s.pane != "", fmt.Sprint(info, err)
	})
	s.observe(l)
	s.ends()
}

// ask1 is what st says of the agent with that name.
func (s *soak) ask1(name string) (orch.AgentInfo, error) {
	if s.client == nil {
		c, err := daemon.Dial(context.Background(), s.stHome, daemon.From{})
		if err != nil {
			return orch.AgentInfo{}, err
		}
		s.client = c
	}
	var list []orch.AgentInfo
	if err := s.client.Get(context.Background(), "agents", orch.ListArgs{All: true}, &list); err != nil {
		return orch.AgentInfo{}, err
	}
	return named(list, name)
}

func named(list []orch.AgentInfo, name string) (orch.AgentInfo, error) {
	for _, a := range list {
		if a.Name == name {
			return a, nil
		}
	}
	return orch.AgentInfo{}, fmt.Errorf("no agent is called %s", name)
}

// How often the witnesses and st are asked; by the verb itself once in a while.
const (
	witnessEvery = 40 * time.Millisecond
	askEvery     = 50 * time.Millisecond
	verbEvery    = 2 * time.Second
)

// observe starts the witnesses and the questions to st.
func (s *soak) observe(l *life) {
	name := fmt.Sprintf("soak%d", s.workers)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	s.stop = func() { cancel(); running.Wait() }
	running.Go(func() { every(ctx, witnessEvery, func() { s.witness(l) }) })
	verb := time.Now()
	running.Go(func() {
		every(ctx, askEvery, func() {
			ask := s.ask1
			if time.Since(verb) > verbEvery {
				verb, ask = time.Now(), s.askVerb
			}
			s.question(name, ask)
		})
	})
}

func every(ctx context.Context, d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// question asks st once.
func (s *soak) question(name string, ask func(string) (orch.AgentInfo, error)) {
	from := time.Now()
	info, err := ask(name)
	at := time.Now()
	is, text := stateOf(info.Status, info.WaitingFor), strings.TrimSpace(info.Status+" "+info.WaitingFor)
	if err != nil {
		is, text = 0, err.Error()
	}
	s.mu.Lock()
	step := s.step
	s.mu.Unlock()
	s.all = append(s.all, said{from, at, is, text, step})
}

// askVerb asks as a person does.
func (s *soak) askVerb(name string) (orch.AgentInfo, error) {
	cmd := exec.Command(filepath.Join(s.home, "bin", "st"), "agents", "--json")
	cmd.Env, cmd.Dir = s.env(), s.dir
	out, err := proctest.Output(cmd)
	if err != nil {
		return orch.AgentInfo{}, err
	}
	var a struct {
		Data struct{ Agents []orch.AgentInfo }
	}
	if err := json.Unmarshal(out, &a); err != nil {
		return orch.AgentInfo{}, err
	}
	if info, err := named(a.Data.Agents, name); err == nil {
		return info, nil
	}
	return orch.AgentInfo{Name: name, Status: "gone"}, nil // the verb lists those that live
}

// witness looks at the process table and at what the agent says of itself.
func (s *soak) witness(l *life) {
	from := time.Now()
	now := s.family()
	at := time.Now()
	was := l.procs.now()
	now.later = now.later || s.wire.children() > 0
	if was != now {
		l.act(at)
	}
	l.procs.set(s.looked, at, now)
	s.looked = from
	if own, since := s.kind.own(s); own != 0 {
		l.own.set(since, since, own)
	}
}

// family finds the agent's process and what runs below it.
func (s *soak) family() (f family) {
	root := s.pid
	if root == 0 {
		if root = s.panePID(); root == 0 {
			return f
		}
	}
	below, err := below(root)
	if err != nil {
		return f
	}
	if s.pid == 0 {
		for _, p := range below {
			if s.kind.runs(p) {
				s.mu.Lock()
				s.pid = p.PID
				s.mu.Unlock()
			}
		}
		return f
	}
	_, err = proc.Of(s.pid)
	f.ended = err != nil
	for _, p := range below {
		words := strings.Join(p.Argv, " ")
		f.later = f.later || strings.Contains(words, "soaktool "+later)
		f.tool = f.tool || strings.Contains(words, "soaktool "+now)
	}
	return f
}

// How the scripts call the tool: one that the agent waits for, one that it puts into the background.
const now, later = "now", "later"

func (s *soak) panePID() int {
	panes, err := s.tmux.Tmux().Panes(context.Background())
	if err != nil {
		return 0
	}
	for _, p := range panes {
		if p.ID == s.pane {
			return p.PID
		}
	}
	return 0
}

// end ends the observation of a life and adds it to the verdict.
func (s *soak) end() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	s.verdict.judge(s.life, s.all)
}

// hold fails the test where st has said too much that was not so.
func (s *soak) hold() {
	v := s.verdict
	for i, worst := range longest(v.stretches, 3) {
		if i == 0 && v.share(v.wrong) <= wrongShare() && worst.took() <= wrongTime {
			break
		}
		s.t.Errorf("false for %.2f %% of the time, here for %.2f s: %s", v.share(v.wrong), worst.took().Seconds(), worst.around())
	}
	if v.share(v.undecided) > vagueShare() {
		s.t.Errorf("%.1f %% of the time can't be decided", v.share(v.undecided))
	}
}

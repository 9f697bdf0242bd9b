package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

var doctorVerb = &verb{
	name: "doctor", about: "check everything that st needs, and say what mends it",
	help: "It only looks: nothing is changed, no daemon started, no tmux server touched. What doesn't answer in time is\n" +
		"said to. With --agent the program is then really started, in this folder, on a tmux server of its own: whether its input\n" +
		"line comes, whether its hooks are heard, and whether it quits. No key is pressed but to quit it: nothing is submitted and\n" +
		"nothing answered in your place. Without --agent all kinds of agents are looked at, and one that isn't installed is no\n" +
		"fault. Exit code 1 says that something fails; a warning is none.",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "agent", Usage: "only this kind of agent: `KIND`"}}
	},
	run: runDoctor,
}

func init() { register(doctorVerb) }

// checkTime is how long one check may take. They run beside each other, so it is also about the time of all. One
// that is told to give up has lastWord to end what it has started and to say what it waited for.
const (
	checkTime = 3 * time.Second
	lastWord  = time.Second
)

// What a check may come to.
const (
	resultOK   = "ok"
	resultWarn = "warn" // st works, but not all of it, or not for long
	resultFail = "fail"
)

// finding is what was found of one precondition.
type finding struct {
	Name    string   `json:"name"`    // what was looked at: "tmux", "shell"
	Subject string   `json:"subject"` // of which: a kind of agent, a path; "" where there is only one
	Result  string   `json:"result"`
	Found   string   `json:"found"` // one line
	Next    []string `json:"next"`  // lines to type that mend it
}

func fine(format string, args ...any) finding {
	return finding{Result: resultOK, Found: fmt.Sprintf(format, args...)}
}

func warning(next []string, format string, args ...any) finding {
	return finding{Result: resultWarn, Found: fmt.Sprintf(format, args...), Next: next}
}

func fault(next []string, format string, args ...any) finding {
	return finding{Result: resultFail, Found: fmt.Sprintf(format, args...), Next: next}
}

// check looks at one precondition. It gives up when ctx ends, or is given up.
type check struct {
	name, subject string
	look          func(ctx context.Context) finding
}

// doctor is what the checks share.
type doctor struct {
	call *call
	home string
	self string // this program
	only string // kind of agent that was asked for, "" = all
	// boxed tells whether sockets are closed to us here, seen how the daemon is; each is found out once.
	boxed func() bool
	seen  func() seenDaemon
}

func runDoctor(c *call) (int, error) {
	only, err := c.text("agent")
	if err != nil {
		return 0, err
	}
	if only != "" {
		var known *orch.Error // a kind that can't be started is what is to be looked at
		if _, err := hooks.Lookup(only); err != nil && !errors.As(err, &known) {
			return 0, c.misuse("doctor: --agent: %v", err)
		}
	}
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	self, err := daemon.Self()
	if err != nil {
		return 0, err
	}
	d := &doctor{call: c, home: home, self: self, only: only}
	d.boxed = sync.OnceValue(func() bool { return daemon.Sandboxed(c.ctx) })
	d.seen = sync.OnceValue(d.seeDaemon)
	found := examine(c.ctx, d.checks(), d.patience())
	found = append(found, d.tryStart(c.ctx, found)...)
	if c.ctx.Err() != nil {
		return 0, c.ctx.Err()
	}
	if c.out.json {
		return verdict(found), c.out.data(map[string]any{"checks": found})
	}
	return verdict(found), c.out.findings(found)
}

// patience is how long one check may take: longer where a kind is asked for whose program may be slow to say anything.
func (d *doctor) patience() time.Duration {
	if k, err := hooks.Lookup(d.only); slices.Contains(hooks.GivenNames(), d.only) || err == nil && hooks.IsUnheard(k) {
		return lineTime
	}
	return checkTime
}

// checks are all that there are, in the order in which they are shown.
func (d *doctor) checks() []check {
	all := append(d.systemChecks(), d.homeChecks()...)
	for _, name := range hooks.Names() {
		if d.only == "" || d.only == name {
			all = append(all, d.agentChecks(name)...)
		}
	}
	for _, name := range hooks.GivenNames() {
		if d.only == "" || d.only == name {
			all = append(all, d.givenChecks(name)...)
		}
	}
	return all
}

// examine runs the checks beside each other and answers in their order.
func examine(ctx context.Context, checks []check, limit time.Duration) []finding {
	found := make([]finding, len(checks))
	var all sync.WaitGroup
	for i, ch := range checks {
		all.Go(func() {
			found[i] = ch.within(ctx, limit)
			found[i].Name, found[i].Subject = ch.name, ch.subject
		})
	}
	all.Wait()
	return found
}

// within is what a check says, or that it says nothing in time. What it waits for is left to itself: this process
// ends soon.
func (ch check) within(ctx context.Context, limit time.Duration) finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	said := make(chan finding, 1)
	go func() { said <- ch.look(ctx) }()
	select {
	case f := <-said:
		return f
	case <-time.After(limit + lastWord):
		return late(limit)
	}
}

func late(limit time.Duration) finding { return fault(nil, "no answer within %v", limit) }

// verdict is the exit code.
func verdict(found []finding) int {
	if count(found, resultFail) > 0 {
		return exitFailed
	}
	return exitDone
}

func count(found []finding, result string) (n int) {
	for _, f := range found {
		if f.Result == result {
			n++
		}
	}
	return n
}

// findings prints what was found, a line each, with what mends it below.
func (p *printer) findings(found []finding) error {
	style := map[string]lipgloss.Style{resultOK: p.styles.good, resultWarn: p.styles.warn, resultFail: p.styles.bad}
	for _, f := range found {
		title := strings.TrimSpace(f.Name + " " + f.Subject)
		gap := block(strings.Repeat(" ", len(resultWarn)-len(f.Result)+2))
		if err := p.say("%s%s%s: %s", p.style(style[f.Result], f.Result), gap, title, f.Found); err != nil {
			return err
		}
		for _, line := range f.Next {
			if err := p.say("        %s", line); err != nil {
				return err
			}
		}
	}
	return p.say("%d ok, %d warn, %d fail", count(found, resultOK), count(found, resultWarn), count(found, resultFail))
}

//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
)

// answers are a person's keys for what may stand before the input line, in the order in which it comes.
var answers = []struct{ mode, screen, keys string }{
	{"trust", "trust", "1"}, {"api-key", "api_key", "1"}, {"login", "login", "1"}, {"auto-mode", "auto_mode", "1"}, {"draft", "draft", "\x15"},
}

// manners are starts that go wrong in one way each.
var manners = []string{
	"", "slow-mount=2", "slow-mount=600", "enter-swallowed", "draft=mine", "no-hooks", "no-start-hook", "late-hook=4", "trust", "login",
	"api-key", "auto-mode", "limit", "dies-at-start=3", "dies-in-turn=4", "silent", "hang", "scroll", "paste-slow=700", "esc-quiet", "no-report",
	"paste-slow=6000",
}

// pairs are modes that may come on top of others.
var pairs = []string{"slow-mount=1", "enter-swallowed", "no-start-hook", "trust", "api-key", "draft=a person's", "scroll", "paste-slow=300", "esc-quiet", "login", "auto-mode"}

// ends are what may become of a line that is in.
var ends = []string{"", "", "limit", "no-hooks", "late-hook=4", "dies-in-turn=4", "silent"}

// mixed is a start in which several things go wrong.
func mixed(r *rand.Rand) string {
	list := slices.Clone(pairs)
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	list = list[:1+r.IntN(3)]
	if end := ends[r.IntN(len(ends))]; end != "" {
		list = append(list, end)
	}
	return strings.Join(list, ",")
}

// nastyStart is one start and what was seen of it.
type nastyStart struct {
	d        *desk
	name     string
	modes    string
	room     *room
	got      said
	info     orch.StartInfo
	then     string // the delivery at the end
	faults   []string
	answered time.Time // when a person's first key came
}

func (n *nastyStart) has(mode string) bool {
	for _, m := range strings.Split(n.modes, ",") {
		if name, _, _ := strings.Cut(m, "="); name == mode {
			return true
		}
	}
	return false
}

func (n *nastyStart) any(modes ...string) bool { return slices.ContainsFunc(modes, n.has) }

func (n *nastyStart) blocked() bool {
	return n.any("trust", "login", "api-key", "auto-mode", "draft") || strings.Contains(n.modes, "slow-mount=600")
}

// unproved says that no hook tells of the turn in time.
func (n *nastyStart) unproved() bool { return n.any("no-hooks", "silent", "hang", "late-hook") }

func (n *nastyStart) fault(format string, args ...any) {
	n.faults = append(n.faults, fmt.Sprintf(format, args...))
}

// run starts, is a person where one is needed, and judges.
func (n *nastyStart) run() {
	var more []string
	if n.blocked() {
		more = append(more, "--timeout", "5s")
	}
	if n.unproved() {
		more = append(more, "--turn-timeout", "1500ms")
	}
	n.got = n.d.st(n.d.start(n.name, n.room.name, "sleep 5 ;; done did "+n.name, n.modes, append(more, "--json")...)...)
	if err := n.got.read(&n.info); err != nil {
		n.fault("%v: %s", err, n.got)
		return
	}
	n.judgeSaid()
	n.judgeLog(false)
	n.judgeEnd()
	n.judgeLog(true)
}

// judgeSaid holds what the verb said against what it had to say.
func (n *nastyStart) judgeSaid() {
	want, code := orch.Delivered, 0
	switch {
	case n.has("dies-at-start"):
		want, code = orch.NotDelivered, 6
	case n.blocked():
		want, code = orch.NotDelivered, 4
	case n.unproved():
		want, code = orch.Unknown, 9
	case strings.Contains(n.modes, "paste-slow=6000") && n.info.Delivery == orch.NotDelivered:
		want, code = orch.NotDelivered, 4 // its line never stood there in time
	}
	if n.info.Delivery != want || n.got.code != code {
		n.fault("said %q with %d, not %q with %d: %s", n.info.Delivery, n.got.code, want, code, n.got)
	}
	for _, a := range answers {
		if n.has(a.mode) && code == 4 {
			if n.info.Screen != a.screen {
				n.fault("screen %q, not %q", n.info.Screen, a.screen)
			}
			return
		}
	}
}

// judgeLog holds the agent's own log against what was said: by the moment of the answer, or at the end.
func (n *nastyStart) judgeLog(end bool) {
	var before int
	for _, j := range n.d.submitted(n.name) {
		if j.Text != "Your task is in this file: "+n.d.home+"/orch/"+n.info.Run+"/"+n.info.Dispatch+".md - read it and do what it says." {
			n.fault("submitted something else: %q", j.Text)
		}
		if j.At.Before(n.got.at) {
			before++
		}
	}
	all := len(n.d.submitted(n.name))
	switch {
	case n.info.Delivery == orch.Delivered && before != 1:
		n.fault("delivered, and the line was submitted %d times", before)
	case n.info.Delivery == orch.NotDelivered && before != 0:
		n.fault("not delivered, and the line had been submitted %d times", before)
	case end && n.then == orch.Delivered && all != 1:
		n.fault("finally delivered, and the line was submitted %d times", all)
	case end && n.then == orch.NotDelivered && all != 0:
		n.fault("finally not delivered, and the line was submitted %d times", all)
	case all > 1:
		n.fault("the line was submitted %d times", all)
	}
	for _, j := range n.d.jotted(n.name) {
		if j.What == "dropped" {
			n.fault("typed into the %s dialog: %q", j.Dialog, j.Text)
		}
		if j.What == "decided" && j.Dialog != "limit" && (n.answered.IsZero() || j.At.Before(n.answered)) {
			n.fault("decided the %s dialog: %s", j.Dialog, j.By)
		}
	}
	if w := n.d.windows(n.name); w > 1 {
		n.fault("%d windows", w)
	}
}

// judgeEnd sees a start to its end: a person answers what stands in the way, and what was owed must go in.
func (n *nastyStart) judgeEnd() {
	if n.info.Delivery == orch.NotDelivered {
		n.answer()
	}
	want := orch.Delivered
	switch {
	case n.has("dies-at-start") || strings.Contains(n.modes, "slow-mount=600"):
		want = orch.NotDelivered
	case n.any("silent", "hang") || n.has("no-hooks") && n.any("dies-in-turn", "limit"):
		want = orch.Unknown
	}
	n.d.await(n.name+" "+n.modes+" becomes "+want, func() bool {
		n.then = n.d.worker(n.name).Delivery
		return n.then == want
	})
	if n.then != want {
		n.fault("finally %q, not %q", n.then, want)
	}
	n.judgeWait(want)
}

// judgeWait wants the code of wait for what the modes do after the line is in.
func (n *nastyStart) judgeWait(delivery string) {
	code := 0
	switch {
	case n.has("dies-at-start") || n.has("dies-in-turn"):
		code = 6
	case strings.Contains(n.modes, "slow-mount=600") || n.any("silent", "hang"):
		code = 124
	case n.has("no-hooks") && n.has("limit"):
		return // the dialog is on the screen only: seen where the screen is looked at
	case n.has("limit"):
		code = 4
	case n.has("no-report"):
		code = 5
	}
	limit := "60s"
	if code == 124 {
		limit = "1s"
	}
	if got := n.d.st("worker", "wait", n.name, "--timeout", limit); got.code != code {
		n.fault("wait ended with %d, not %d: %s", got.code, code, got)
	}
	if code != 0 {
		return
	}
	var read orch.ReadInfo
	got := n.d.st("worker", "read", n.name, "--json")
	if err := got.read(&read); err != nil || read.Summary != "did "+n.name || len(read.Notes) != 0 {
		n.fault("read: %v: %s", err, got)
	}
}

// answer is the person who clears the way.
func (n *nastyStart) answer() {
	for _, a := range answers {
		if !n.has(a.mode) {
			continue
		}
		var w orch.WorkerInfo
		if !n.d.await(n.name+" shows "+a.screen, func() bool { w = n.d.worker(n.name); return w.Screen == a.screen }) {
			n.fault("shows %q", w.Screen)
			return
		}
		if n.answered.IsZero() {
			n.answered = time.Now()
		}
		n.room.press(n.d, w.Window, a.keys)
	}
}

// TestNastyStarts: whatever the agent does, what is said of a start is true, and its line goes in once. The
// agent's own log is the judge.
func TestNastyStarts(t *testing.T) {
	beside(t)
	d := newDesk(t)
	d.attach()
	r := seed(t)
	if got := d.st("orch", "start", "--objective", "nasty"); got.code != 0 {
		t.Fatal(got)
	}
	modes := slices.Clone(manners)
	for len(modes) < max(counted(0, 100), len(manners)+5) {
		modes = append(modes, mixed(r))
	}
	r.Shuffle(len(modes), func(i, k int) { modes[i], modes[k] = modes[k], modes[i] })
	modes = modes[:counted(15, 100)]
	starts := make([]*nastyStart, len(modes))
	var all sync.WaitGroup
	slots := make(chan struct{}, 5)
	for i, m := range modes {
		starts[i] = &nastyStart{d: d, name: fmt.Sprintf("n%dx", i), modes: m, room: d.sessions[r.IntN(len(d.sessions))]}
		slots <- struct{}{}
		all.Go(func() {
			starts[i].run()
			<-slots
		})
	}
	all.Wait()
	t.Log(table(starts))
	for _, n := range starts {
		for _, f := range n.faults {
			t.Errorf("%s (%s, %s): %s", n.name, n.modes, n.room.size, f)
		}
	}
}

// table shows each start: its modes, what was said, and when each stage was reached.
func table(starts []*nastyStart) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-5s %-7s %-42s %-14s %-14s %4s", "name", "size", "modes", "delivery", "finally", "code")
	names := []string{"window", "agent", "ready", "typed", "verified", "submitted", "turn"}
	for _, s := range names {
		fmt.Fprintf(&b, " %9s", s)
	}
	for _, n := range starts {
		fmt.Fprintf(&b, "\n%-5s %-7s %-42s %-14s %-14s %4d", n.name, n.room.size, n.modes, n.info.Delivery, n.then, n.got.code)
		for _, s := range n.info.Stages {
			if s.OK {
				fmt.Fprintf(&b, " %9d", s.MS)
			} else {
				fmt.Fprintf(&b, " %9s", "-")
			}
		}
	}
	return b.String()
}

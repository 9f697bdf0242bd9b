package orch

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestWalk takes random steps, inputs as they can come and as they can't, and holds what must never break:
// no report and no message is lost, no order is given twice, an agent's words keep their order, nothing is typed over a running turn or a dialog, and
// not_delivered is only said while nothing has been submitted.
func TestWalk(t *testing.T) {
	steps := 20_000
	if os.Getenv("ST_LONG") != "" {
		steps = 1_000_000
	}
	seed := time.Now().UnixNano()
	if s, err := strconv.ParseInt(os.Getenv("ST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("ST_SEED=%d replays this walk", seed)
	w := newWalk(t, seed)
	for i := 0; i < steps && !t.Failed(); i++ {
		w.one(i)
	}
}

type walk struct {
	*testing.T
	*rand.Rand
	*world
	at      time.Time
	opened  map[string]bool // agents whose window was ordered
	stopped map[string]int  // agents whose end was ordered
	flight  map[string]bool // words that are being typed
	in      map[string]bool // words that were submitted
	writes  map[string]bool // words whose file is being written
	told    map[string]string
	workers int
}

func newWalk(t *testing.T, seed int64) *walk {
	return &walk{T: t, Rand: rand.New(rand.NewSource(seed)), world: newWorld(), at: time.Unix(1e9, 0),
		opened: map[string]bool{}, stopped: map[string]int{}, flight: map[string]bool{}, in: map[string]bool{}, writes: map[string]bool{}, told: map[string]string{}}
}

func (w *walk) one(i int) {
	w.at = w.at.Add(time.Duration(w.Int63n(int64(3 * time.Second))))
	if w.Intn(50) == 0 {
		w.at = w.at.Add(time.Minute)
	}
	if w.workers > 60 { // a fresh world, or every step looks at hundreds of dead workers
		*w = *newWalk(w.T, w.Int63())
	}
	in := Input{At: w.at, Nonce: fmt.Sprint("n", i), What: w.what()}
	in.By = w.by()
	if _, ok := in.What.(WorkerDone); !ok && w.Intn(2) == 0 {
		in.By = Caller{}
	}
	before, mail := w.deliveries(), w.messages()
	c, effects := Step(w, in)
	if c.Err != nil && (len(c.Puts) > 0 || len(effects) > 0) {
		w.Errorf("a refused %T changes something", in.What)
	}
	for _, e := range c.Events {
		if CheckTypes([]string{e.Type}) != nil {
			w.Errorf("%q is missing in EventTypes (after %T)", e.Type, in.What)
		}
	}
	w.effects(in, effects)
	w.world.apply(c)
	w.hold(in, before)
	w.holdMail(in, mail)
	for _, e := range effects {
		if o, ok := e.Do.(WordType); ok {
			w.holdOrder(o)
		}
	}
	if a, ok := c.Answer.(DoneAnswer); ok && a.Taken == "report" {
		w.told[a.Dispatch] = in.What.(WorkerDone).Summary
	}
}

// agent picks a number of an agent; its processes follow from it.
func (w *walk) agent() int {
	c, _ := get[Counters](w, "counters/")
	return w.Intn(c.Agent+1) + 1
}

func (w *walk) by() Caller {
	n := w.agent()
	c := Caller{Path: "socket", Chain: []Link{{Process: Process{5, 5}}, {Process: Process{n*10 + 1, 7}, Kind: "demo"}, {Process: Process{n * 10, 7}}}}
	switch w.Intn(8) {
	case 0: // a child agent
		c.Chain = append([]Link{{Process: Process{n*10 + 2, 7}, Kind: "demo"}}, c.Chain...)
	case 1: // a person
		c.Chain = c.Chain[:1]
	case 2: // the pane's own process
		a, _ := get[Agent](w, fmt.Sprint("agent/a", n))
		c = Caller{Path: "socket", Nonce: a.Nonce, Chain: []Link{{Process: Process{n * 10, 7}}}}
	}
	return c
}

func (w *walk) what() What {
	n := w.agent()
	id := fmt.Sprint("a", n)
	screens := []string{"ready", "ready", "ready", "draft", "trust", "permission", "unknown", "starting"}
	switch w.Intn(16) {
	case 0:
		w.workers++
		return WorkerStart{Kind: "demo", Spec: "x", CopyDir: "/c", Target: Place{Server: "s"}}
	case 1, 2:
		return PaneOpened{Agent: id, Place: Place{Server: "s", Pane: fmt.Sprint("%", n)}, Runner: Process{n * 10, 7}}
	case 3:
		return AgentStarted{Agent: id, Proc: Process{n*10 + 1, 7}}
	case 4, 5:
		return ScreenSeen{Agent: id, Screen: screens[w.Intn(len(screens))]}
	case 6:
		return w.typed()
	case 7, 8, 9:
		return Hook{Kind: "demo", Event: w.event()}
	case 10:
		return WorkerDone{Outcome: []string{"succeeded", "failed"}[w.Intn(2)], Summary: fmt.Sprint(w.Intn(9))}
	case 11:
		if w.Intn(6) == 0 {
			return AgentExited{Agent: id, Code: w.Intn(3) - 1, Why: "exited"}
		}
		return Transcript{Agent: id, Event: AgentEvent{Type: Interrupted}}
	case 12:
		if w.Intn(4) == 0 {
			return WorkerStop{Worker: fmt.Sprint("w", w.Intn(w.workers+1))}
		}
		return AgentStopped{Agent: id}
	case 13:
		return WorkerSend{Worker: fmt.Sprint("w", w.Intn(w.workers+1)), Text: "x", Now: w.Intn(3) == 0}
	case 14:
		if w.Intn(4) == 0 {
			return WorkerKey{Worker: fmt.Sprint("w", w.Intn(w.workers+1)), Screen: "trust"}
		}
		for word := range w.writes {
			delete(w.writes, word)
			return FileWritten{Word: word, Error: []string{"", "", "", "no space"}[w.Intn(4)]}
		}
	}
	return Tick{}
}

// typed is the result of a word that is really being typed, or Tick.
func (w *walk) typed() What {
	for word := range w.flight {
		delete(w.flight, word)
		if w.Intn(2) == 0 {
			w.in[word] = true
			return WordTyped{Word: word, Outcome: submitted}
		}
		return WordTyped{Word: word, Outcome: "withheld", Why: "draft"}
	}
	return Tick{}
}

func (w *walk) event() AgentEvent {
	kinds := []string{SessionStarted, PromptIn, PromptIn, ToolStarted, ToolEnded, PermissionAsked, QuestionAsked, TurnEnded, TurnEnded, TurnFailed, Compacting, Compacted, Noticed, SessionEnded}
	e := AgentEvent{Type: kinds[w.Intn(len(kinds))], Background: w.Intn(8) / 7}
	if e.Type == PromptIn && w.Intn(2) == 0 {
		e.Marks = []string{fmt.Sprintf("/c/r1/d%d.md", w.Intn(w.workers+1))}
		c, _ := get[Counters](w, "counters/")
		if m, ok := get[Message](w, fmt.Sprint("message/m", w.Intn(c.Message+1))); ok && w.Intn(2) == 0 {
			e.Marks = []string{m.Path}
		}
	}
	return e
}

// effects holds what may be ordered.
func (w *walk) effects(in Input, effects []Effect) {
	for _, e := range effects {
		switch o := e.Do.(type) {
		case PaneOpen:
			if w.opened[o.Agent] {
				w.Errorf("the window of %s is ordered twice", o.Agent)
			}
			w.opened[o.Agent] = true
		case WordType:
			a, _ := get[Agent](w, "agent/"+o.Agent)
			if w.flight[o.Word] {
				w.Errorf("%s is typed while it is being typed (after %T)", o.Word, in.What)
			}
			if a.Gone != "" {
				w.Errorf("%s is typed to a dead agent", o.Word)
			}
			if w.in[o.Word] || w.writes[o.Word] {
				w.Errorf("%s is typed again, or before its file is there (after %T)", o.Word, in.What)
			}
			w.flight[o.Word] = true
		case FileWrite:
			w.writes[o.Word] = true
		case AgentStop:
			if w.stopped[o.Agent]++; w.stopped[o.Agent] > 1 {
				w.Errorf("the end of %s is ordered twice (after %T)", o.Agent, in.What)
			}
		}
	}
}

// holdOrder: of two words to one agent the earlier one is in, given up, or proved before the later one is typed.
func (w *walk) holdOrder(o WordType) {
	n, _ := strconv.Atoi(o.Word[1:])
	each(w, "word", func(e Word) bool {
		m, _ := strconv.Atoi(e.ID[1:])
		if e.Agent == o.Agent && m < n && e.State != unproved && !(e.State == submitted && !w.at.Before(e.Submitted.Add(e.Patience))) {
			w.Errorf("%s is typed while %s is %s", o.Word, e.ID, e.State)
		}
		return true
	})
}

func (w *walk) messages() map[string]Message {
	m := map[string]Message{}
	each(w, "message", func(o Message) bool { m[o.ID] = o; return true })
	return m
}

// holdMail: what was proved stays proved, what was submitted is never called not delivered, and what is queued
// has a word that will bring it.
func (w *walk) holdMail(in Input, before map[string]Message) {
	words := map[string]Word{}
	each(w, "word", func(o Word) bool { words[o.Message] = o; return true })
	each(w, "message", func(m Message) bool {
		old := before[m.ID]
		if old.State == Delivered && m.State != Delivered {
			w.Errorf("%s was delivered and is %s after %T", m.ID, m.State, in.What)
		}
		if m.State == NotDelivered && m.Submitted != nil {
			w.Errorf("%s is not delivered though it was submitted (%T)", m.ID, in.What)
		}
		if _, owed := words[m.ID]; !owed && (m.State == Queued || m.State == Typed) {
			w.Errorf("%s is %s and no word of it is owed after %T", m.ID, m.State, in.What)
		}
		return true
	})
}

func (w *walk) deliveries() map[string]Dispatch {
	m := map[string]Dispatch{}
	each(w, "dispatch", func(d Dispatch) bool { m[d.ID] = d; return true })
	return m
}

// hold looks at the whole state after a step.
func (w *walk) hold(in Input, before map[string]Dispatch) {
	each(w, "dispatch", func(d Dispatch) bool {
		old := before[d.ID]
		if old.Delivery == Delivered && d.Delivery != Delivered {
			w.Errorf("%s was delivered and is %q after %T", d.ID, d.Delivery, in.What)
		}
		if old.Delivery == Pending && d.Delivery == NotDelivered && d.Submitted != nil {
			w.Errorf("%s is not_delivered though it was submitted (%T)", d.ID, in.What)
		}
		if s, ok := w.told[d.ID]; ok && (d.Report == nil || d.Report.Summary != s) {
			w.Errorf("the report of %s is lost or changed after %T", d.ID, in.What)
		}
		if old.Finished != nil && d.Finished == nil {
			w.Errorf("%s was finished and is not after %T", d.ID, in.What)
		}
		a, _ := get[Agent](w, "agent/"+d.Agent)
		wk, _ := get[Worker](w, "worker/"+d.Worker)
		if wk.State != work(d, a) {
			w.Errorf("%s is stored as %s and is %s after %T", wk.ID, wk.State, work(d, a), in.What)
		}
		if d.Delivery == Pending && d.open() && w.Entity("clock/"+d.ID) == nil {
			w.Errorf("%s is pending and has no clock after %T", d.ID, in.What)
		}
		return true
	})
}

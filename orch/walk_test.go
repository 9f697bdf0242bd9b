package orch

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWalk takes random steps, inputs as they can come and as they can't, and holds what must never break:
// no report, no message and no news is lost, no order is given twice, starts keep their order and wait only where there
// is no room, nothing goes in twice unless the agent's own log says that it did not, an agent's words keep their order,
// nothing is typed over a running turn or a dialog, and not_delivered is only said while nothing has been submitted.
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
		w.step(i)
	}
}

type walk struct {
	*testing.T
	*rand.Rand
	*world
	at      time.Time
	opened  map[string]bool // agents whose window was ordered
	newest  int             // the worker whose window was ordered last
	back    map[string]bool // workers whose session came back: their turn may come late
	stopped map[string]int  // agents whose end was ordered
	keeps   map[string]bool // those whose pane is to stay for the next window
	flight  map[string]bool // words that are being typed
	in      map[string]bool // words that were submitted or carried
	search  map[string]bool // lines that an agent's log is searched for
	heard   map[string]bool // news that were told
	writes  map[string]bool // words whose file is being written
	told    map[string]string
	dropped map[string]bool // environments of tasks that were given up
	workers int
	run     string // that the next caller names
	trees   treeWork
}

func newWalk(t *testing.T, seed int64) *walk {
	return &walk{T: t, Rand: rand.New(rand.NewSource(seed)), world: newWorld(), at: time.Unix(1e9, 0),
		opened: map[string]bool{}, back: map[string]bool{}, stopped: map[string]int{}, keeps: map[string]bool{}, flight: map[string]bool{}, in: map[string]bool{}, search: map[string]bool{}, heard: map[string]bool{}, writes: map[string]bool{}, told: map[string]string{}, dropped: map[string]bool{}, trees: newTreeWork()}
}

func (w *walk) step(i int) {
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
	in.By.Run, w.run = w.run, ""
	before, mail, news, shown := w.deliveries(), w.messages(), w.news(), w.shown(in)
	gates, words := w.gateStates()
	c, effects := Step(w, in)
	if c.Err != nil && (len(c.Puts) > 0 || len(effects) > 0) {
		w.Errorf("a refused %T changes something", in.What)
	}
	for _, e := range c.Events {
		if CheckTypes([]string{e.Type}) != nil {
			w.Errorf("%q is missing in EventTypes (after %T)", e.Type, in.What)
		}
		if e.By == "" || e.Cause != in.What.Type() {
			w.Errorf("who has brought %q about, and by what (after %T): %+v", e.Type, in.What, e)
		}
	}
	w.orderTrees(in, c)
	w.effects(in, effects)
	w.holdLines(in, c)
	w.holdProof(in, c)
	w.holdSeat(in, c)
	w.holdLead(in, c)
	w.world.apply(c)
	w.holdTeams(in)
	w.holdFormer(in)
	w.holdWay(in)
	w.holdNews(in, news, c.Events)
	w.hold(in, before)
	w.holdMail(in, mail)
	w.holdBoxes(in, mail, shown)
	w.holdLine(in, effects)
	w.holdTrees(in, effects)
	w.holdQuestions(in, mail)
	w.holdTasks(in)
	w.holdGates(in, gates, words, c)
	w.holdScopes(in, effects)
	w.holdRestart(in, before, c)
	w.holdResume(in, effects)
	if a, ok := c.Answer.(DoneAnswer); ok && a.Taken == "report" {
		w.told[a.Dispatch] = in.What.(WorkerDone).Summary
	}
}

// one takes any of a set out of it: by the seed, so that a walk can be replayed.
func (w *walk) one(set map[string]bool) (string, bool) {
	if len(set) == 0 {
		return "", false
	}
	all := slices.Sorted(maps.Keys(set))
	picked := all[w.Intn(len(all))]
	delete(set, picked)
	return picked, true
}

// agent picks a number of an agent; its processes follow from it.
func (w *walk) agent() int {
	c, _ := get[Counters](w, "counters/")
	return w.Intn(c.Agent+1) + 1
}

func (w *walk) by() Caller {
	n := w.agent()
	c := Caller{Path: "socket", Chain: []Link{{Process: Process{5, 5}}, {Process: Process{n*10 + 1, 7}, Kind: "demo"}, {Process: Process{n * 10, 7}}}}
	a, ok := get[Agent](w, fmt.Sprint("agent/a", n))
	if ok && a.Proc.PID != 0 && w.Intn(4) == 0 {
		c.Chain = []Link{{Process: Process{5, 5}}, {Process: a.Proc, Kind: a.Kind}}
	}
	switch w.Intn(8) {
	case 0: // a child agent
		c.Chain = append([]Link{{Process: Process{n*10 + 2, 7}, Kind: "demo"}}, c.Chain...)
	case 1: // a person
		c.Chain = c.Chain[:1]
	case 2: // the pane's own process
		c = Caller{Path: "socket", Nonce: a.Nonce, Chain: []Link{{Process: Process{n * 10, 7}}}}
	}
	return c
}

func (w *walk) what() What {
	n := w.agent()
	id := fmt.Sprint("a", n)
	switch w.Intn(20) {
	case 18, 19:
		return w.team()
	case 16:
		return w.restart()
	case 17:
		return w.tree()
	case 0, 1:
		return w.other()
	case 2:
		return w.asks()
	case 3, 4:
		return w.task()
	case 5:
		return w.gates()
	}
	screens := []string{"ready", "ready", "ready", "draft", "trust", "permission", "unknown", "starting"}
	switch w.Intn(16) {
	case 0:
		w.workers++
		start := WorkerStart{Kind: "demo", Spec: "x", CopyDir: "/c", Target: Place{Server: "s"}, Scope: w.scope(), Tree: w.treeWant(), May: May{Setup: true}, Blind: w.Intn(8) == 0}
		start.ByMark = start.Blind && w.workers%2 == 0
		return start
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
		return WorkerDone{Outcome: []string{"succeeded", "failed"}[w.Intn(2)], Summary: fmt.Sprint(w.Intn(9)), LeaveWorkers: w.Intn(4) == 0}
	case 11:
		if w.Intn(6) == 0 {
			return AgentExited{Agent: id, Code: w.Intn(3) - 1, Why: "exited"}
		}
		return Transcript{Agent: id, Event: AgentEvent{Type: Interrupted}}
	case 12:
		if w.Intn(4) == 0 {
			return WorkerStop{Worker: fmt.Sprint("w", w.Intn(w.workers+1))}
		}
		return w.ended(id, "")
	case 13:
		if w.Intn(2) == 0 {
			return w.mail()
		}
		return WorkerSend{Worker: fmt.Sprint("w", w.Intn(w.workers+1)), Text: "x", Now: w.Intn(3) == 0}
	case 14:
		if w.Intn(4) == 0 {
			return WorkerKey{Worker: fmt.Sprint("w", w.Intn(w.workers+1)), Screen: "trust"}
		}
		if word, ok := w.one(w.writes); ok {
			return FileWritten{Word: word, Error: []string{"", "", "", "no space"}[w.Intn(4)]}
		}
	}
	return Tick{}
}

// typed is the result of a word that is really being typed, or Tick.
func (w *walk) typed() What {
	if word, ok := w.one(w.flight); ok {
		if w.Intn(2) == 0 {
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
		if d, ok := get[Dispatch](w, fmt.Sprint("dispatch/d", w.Intn(c.Dispatch+1))); ok && w.Intn(2) == 0 {
			e.Marks = []string{d.Copy}
		}
		if m, ok := get[Message](w, fmt.Sprint("message/m", w.Intn(c.Message+1))); ok && w.Intn(2) == 0 {
			e.Marks = []string{m.Path}
		}
		if w.Intn(2) == 0 {
			e.Marks = []string{fmt.Sprint("st-o", w.Intn(c.Word+1))}
		}
	}
	e.Continued = w.Intn(3) == 0
	if w.Intn(3) == 0 {
		e.Conversation, e.Transcript = fmt.Sprint("c", w.Intn(6)), "/log"
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
			if w.dropped[o.EnvFile] {
				w.Errorf("the window of %s is ordered with an environment that was given up (after %T)", o.Agent, in.What)
			}
			if o.Resume == "" && !w.hasTree(o.Worker) {
				w.opens(o.Worker)
			}
		case WordType:
			a, _ := get[Agent](w, "agent/"+o.Agent)
			if w.flight[o.Word] {
				w.Errorf("%s is typed while it is being typed (after %T)", o.Word, in.What)
			}
			if a.Gone != "" {
				w.Errorf("%s is typed to a dead agent", o.Word)
			}
			if w.writes[o.Word] {
				w.Errorf("%s is typed before its file is there (after %T)", o.Word, in.What)
			}
			w.flight[o.Word] = true
		case LaunchDrop:
			if o.Agent == "" && w.dropped[o.EnvFile] {
				w.Errorf("%s is given up twice (after %T)", o.EnvFile, in.What)
			}
			w.dropped[o.EnvFile] = o.Agent == ""
		case LogSearch:
			w.search[o.Word] = true
		case TreeMake, SetupRun, SetupStop, TreeFinish, CheckRun:
			w.treeEffect(in, o)
		case FileWrite:
			w.writes[o.Word] = true
		case AgentStop:
			w.keeps[o.Agent] = o.Keeps
			if o.Gently { // it may have stayed
				continue
			}
			if w.stopped[o.Agent]++; w.stopped[o.Agent] > 1 {
				w.Errorf("the end of %s is ordered twice (after %T)", o.Agent, in.What)
			}
		}
	}
}

// opens holds that the turns of starts come in their order.
func (w *walk) opens(worker string) {
	n, _ := strconv.Atoi(worker[1:])
	if w.back[worker] {
		return
	}
	if n <= w.newest {
		w.Errorf("the turn of w%d comes after that of w%d", n, w.newest)
	}
	w.newest = n
}

// holdLine: in line is who is queued, nobody waits while there is room, nobody is let in where there was none, and
// what is stopped in line is not opened.
func (w *walk) holdLine(in Input, effects []Effect) {
	starts, waits, ready := inLine(w), map[string]bool{}, 0
	for _, q := range starts {
		waits[q.Open.Dispatch] = true
		if !q.Lost {
			ready++
		}
	}
	each(w, "dispatch", func(d Dispatch) bool {
		if d.queued() != waits[d.ID] {
			w.Errorf("%s is queued: %v, in line: %v, after %T", d.ID, d.queued(), waits[d.ID], in.What)
		}
		if a, _ := get[Agent](w, "agent/"+d.Agent); d.queued() && w.opened[a.ID] || a.Gone != "" && waits[d.ID] {
			w.Errorf("%s is in line (%s), its window ordered: %v, after %T", d.ID, a.Gone, w.opened[a.ID], in.What)
		}
		return true
	})
	if len(starts)+len(effects) == 0 {
		return
	}
	most, taken := limitsOf(w).MaxWorkers, placesTaken(w, starts)
	if ready > 0 && (most == 0 || taken < most) {
		w.Errorf("%d wait though %d of %d places are taken, after %T", ready, taken, most, in.What)
	}
	for _, e := range effects {
		o, ok := e.Do.(PaneOpen)
		_, tree := e.Do.(TreeMake)
		if (ok && o.Resume == "" && !w.hasTree(o.Worker) || tree) && most > 0 && taken > most {
			w.Errorf("%d of %d places are taken, after %T", taken, most, in.What)
		}
	}
}

// other is what concerns waits, logs and limits.
func (w *walk) other() What {
	c, _ := get[Counters](w, "counters/")
	n := w.agent()
	switch w.Intn(8) {
	case 7:
		return RunUse{Run: fmt.Sprint("r", w.Intn(c.Run+1))}
	case 6:
		return HookUnheard{Event: AgentEvent{Type: []string{TurnEnded, PromptIn}[w.Intn(2)]}}
	case 0:
		return WaitBegan{Deaf: map[string]bool{"demo": w.Intn(2) == 0}}
	case 1:
		return WaitOver{Process: Process{5, 5}}
	case 2:
		if word, ok := w.one(w.search); ok {
			if w.Intn(9) == 0 {
				return LogSearched{Word: word, None: "/log"}
			}
			return LogSearched{Word: word, Found: w.Intn(3) == 0, Error: []string{"", "", "not permitted"}[w.Intn(3)]}
		}
	case 3:
		return Transcript{Agent: fmt.Sprint("a", n), Event: AgentEvent{Type: WordIn, Marks: []string{fmt.Sprint("st-o", w.Intn(c.Word+1))}}}
	case 4:
		return Configured{MaxWorkers: w.Intn(5), Reminder: time.Duration(w.Intn(2)) * time.Second, Silence: time.Duration(w.Intn(2)) * time.Minute}
	}
	i, _ := Wait(w, Caller{Chain: []Link{{Process: Process{n*10 + 1, 7}, Kind: "demo"}}}, WaitArgs{})
	return WaitTold{States: i.New}
}

// holdLines: what went in does not go in again, and of two words to one agent the earlier one is in, given up, or
// passed over before the later one goes in.
func (w *walk) holdLines(in Input, c Changes) {
	if o, ok := in.What.(WordTyped); ok && o.Outcome == submitted {
		each(w, "word", func(e Word) bool {
			if e.Lead == o.Word || e.ID == o.Word {
				w.in[e.ID] = true
			}
			return true
		})
	}
	searched, _ := in.What.(LogSearched)
	for _, e := range c.Puts {
		now, ok := e.(Word)
		old, _ := get[Word](w, e.Key())
		a, _ := get[Agent](w, "agent/"+old.Agent)
		_, unheard := in.What.(HookUnheard)
		if ok && unheard && old.State == carried && (now.State == owed || now.State == typing) {
			delete(w.in, now.ID) // no hook has got it
		}
		if ok && now.Again > old.Again && (old.Lead == searched.Word || a.Transcript == "") {
			delete(w.in, now.ID) // its agent's log does not have it, or it has none
		}
		if !ok || old.State == now.State || now.State != typing && now.State != carried {
			continue
		}
		if now.State == carried && now.Way == "" { // its own prompt has come
			w.in[now.ID] = true
			continue
		}
		if w.in[now.ID] {
			w.Errorf("%s goes in again (after %T): %+v", now.ID, in.What, now)
		}
		if now.State == carried {
			w.in[now.ID] = true
		}
		w.holdOrder(in, now, c)
	}
}

// holdProof: what a hook was given to tell no hook proves, but that of a prompt which is the line itself; and it is given to
// no agent that keeps no log.
func (w *walk) holdProof(in Input, c Changes) {
	hook, isHook := in.What.(Hook)
	for _, k := range c.Dels {
		o, ok := get[Word](w, k)
		if ok && isHook && o.State == carried && o.Way != "" && !slices.ContainsFunc(lineOf(w, o), func(l Word) bool { return slices.ContainsFunc(hook.Event.Marks, l.known) }) {
			w.Errorf("the hook %+v proves what another was given to tell:\n%+v", hook.Event, o)
		}
	}
	for _, e := range c.Puts {
		o, ok := e.(Word)
		if !ok || o.State != carried || o.Way == "" {
			continue
		}
		if old, _ := get[Word](w, e.Key()); old.State == carried {
			continue
		}
		if a, _ := get[Agent](w, "agent/"+o.Agent); a.Unlogged != "" || a.Transcript+hook.Event.Transcript == "" {
			w.Errorf("a hook is given a line to tell that nothing would prove: %+v to %+v", o, a)
		}
	}
}

// lineOf are the words that have gone in with a word.
func lineOf(v View, o Word) line { return wordsOf(v, o.Lead, func(Word) bool { return true }) }

// holdWay: something will tell what becomes of each line that is on its way, and news are owed to nobody who has ended
// while somebody is there to hear them.
func (w *walk) holdWay(in Input) {
	each(w, "word", func(o Word) bool {
		a, _ := get[Agent](w, "agent/"+o.Agent)
		stuck := o.State == typing && !w.flight[o.Lead] || o.State == sought && !w.search[o.Lead] || o.State == carried && !a.Turn ||
			o.State == submitted && o.deadline(a, false).IsZero()
		if lead, ok := get[Word](w, "word/"+o.Lead); o.onWay() && (!ok || lead.State != o.State) || stuck {
			w.Errorf("nothing tells what becomes of a word (after %T):\n%+v\nof the line of\n%+v", in.What, o, lead)
		}
		if o.News == nil || o.onWay() || o.State == unproved || a.Gone == "" {
			return true
		}
		of, _ := get[Worker](w, "worker/"+o.News.Worker)
		if to := hearsOf(w, *o.News); to != o.Agent && of.Released == nil { // of one that was released whoever has it tells it
			w.Errorf("the news %s are owed to %s and not to %q, who answers for the worker, after %T", o.ID, o.Agent, to, in.What)
		}
		return true
	})
}

func (w *walk) holdOrder(in Input, now Word, c Changes) {
	n, _ := strconv.Atoi(now.ID[1:])
	gone := map[string]bool{}
	for _, e := range c.Puts {
		gone[e.Key()] = true
	}
	for _, k := range c.Dels {
		gone[k] = true
	}
	each(w, "word", func(e Word) bool {
		m, _ := strconv.Atoi(e.ID[1:])
		if e.Agent == now.Agent && m < n && !gone[e.Key()] && !waitTells(w, Waits(w), e) && (e.onWay() || e.State == owed && e.News == nil && e.Reminds == "") {
			w.Errorf("%s goes in while %s is %s (after %T)\n%+v\n%+v", now.ID, e.ID, e.State, in.What, now, e)
		}
		return true
	})
}

func (w *walk) news() map[string]Word {
	m := map[string]Word{}
	each(w, "word", func(o Word) bool {
		if o.News != nil {
			m[o.ID] = o
		}
		return true
	})
	return m
}

// holdNews: news end by being told, once, or where something newer takes their place, the silence is over, or
// nobody is there to hear them.
func (w *walk) holdNews(in Input, before map[string]Word, events []Event) {
	told, newer := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		switch {
		case e.Type == "news-told" && w.heard[e.Word]:
			w.Errorf("the news %s are told twice (after %T)", e.Word, in.What)
		case e.Type == "news-told":
			w.heard[e.Word], told[e.Word] = true, true
		case strings.HasPrefix(e.Type, "worker-"), e.Type == "reported":
			newer[e.Dispatch] = true
		}
	}
	for id, o := range before {
		worker, _ := get[Worker](w, "worker/"+o.News.Worker)
		a, _ := get[Agent](w, "agent/"+worker.Agent)
		over := newer[o.News.Dispatch] || !o.News.byWait() && !a.Silent || o.News.broughtTo(w, o.Agent)
		if m, ok := get[Message](w, "message/"+o.News.Message); ok { // neither a state nor another message takes its place
			over = m.Delivered != nil || m.Settled != nil
		}
		if w.Entity("word/"+id) == nil && !told[id] && !over && hearsOf(w, *o.News) != "" {
			w.Errorf("the news %s (%s %s) are lost after %T", id, o.News.Worker, o.News.What, in.What)
		}
	}
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
		if _, owed := words[m.ID]; !owed && m.toWorker() && (m.State == Queued || m.State == Typed) {
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
		if len(d.Notes) < len(old.Notes) {
			w.Errorf("a note on %s is lost after %T", d.ID, in.What)
		}
		if old.Finished != nil && d.Finished == nil {
			w.Errorf("%s was finished and is not after %T", d.ID, in.What)
		}
		a, _ := get[Agent](w, "agent/"+d.Agent)
		wk, _ := get[Worker](w, "worker/"+d.Worker)
		if wk.Dispatch == d.ID && wk.State != work(w.world, wk, d, a) {
			w.Errorf("%s is stored as %s and is %s after %T", wk.ID, wk.State, work(w.world, wk, d, a), in.What)
		}
		if d.Delivery == Pending && d.open() && w.Entity("clock/"+d.ID) == nil {
			w.Errorf("%s is pending and has no clock after %T", d.ID, in.What)
		}
		return true
	})
}

package orch

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestReturns lets workers of equal folders and names come back 200 times (1,000 with ST_LONG) after their server has ended: in other
// panes and another order, some never, beside strangers of every sort. Nobody gets the work of another, and where that
// can't be told nobody gets it.
func TestReturns(t *testing.T) {
	seed := time.Now().UnixNano()
	if s, err := strconv.ParseInt(os.Getenv("ST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("ST_SEED=%d replays this", seed)
	r := rand.New(rand.NewSource(seed))
	rounds := 200
	if os.Getenv("ST_LONG") != "" {
		rounds = 1000
	}
	var sum returned
	for range rounds {
		sum.add(t, newReturn(r).play())
	}
	t.Logf("%d workers came back and %d did not: %d have their work again, of %d (%.1f %%) it can't be told which they are; %d strangers",
		sum.back, sum.lost, sum.right, sum.open, 100*float64(sum.open)/float64(sum.back), sum.strangers)
	if sum.right == 0 || sum.open == 0 || sum.lost == 0 || sum.strangers == 0 {
		t.Errorf("nothing was tried: %+v", sum)
	}
}

// returned counts what became of workers.
type returned struct {
	back, lost, right, open, strangers int
	wrong                              []string
}

func (r *returned) add(t *testing.T, o returned) {
	r.back, r.lost, r.right, r.open, r.strangers = r.back+o.back, r.lost+o.lost, r.right+o.right, r.open+o.open, r.strangers+o.strangers
	for _, w := range o.wrong {
		t.Error(w)
	}
}

// returning is one end of a server and what comes after it.
type returning struct {
	*rand.Rand
	*world
	found []AgentFound
	truth map[Process]string // the worker that a found one is, "" for a stranger
	told  map[string]bool    // workers whose conversation is named by exactly one
	back  map[string]bool
	sum   returned
}

func newReturn(r *rand.Rand) *returning {
	return &returning{Rand: r, world: newWorld(), truth: map[Process]string{}, told: map[string]bool{}, back: map[string]bool{}}
}

// of picks one of a few.
func (r *returning) of(list ...string) string { return list[r.Intn(len(list))] }

func (r *returning) place(pane int) Place {
	return Place{Server: "new", Pane: fmt.Sprint("%", pane), SessionName: r.of("main", "other"), WindowName: r.of("api", "ui"), Dir: r.of("/one", "/two")}
}

func (r *returning) play() returned {
	run := Run{ID: "r1"}
	r.set(run.Key(), run)
	n := 1 + r.Intn(16)
	for i := range n {
		r.worker(i + 1)
	}
	for range r.Intn(5) {
		r.stranger(n)
	}
	r.Shuffle(len(r.found), func(i, j int) { r.found[i], r.found[j] = r.found[j], r.found[i] })
	for pane := range r.found { // the panes have got their numbers anew
		r.found[pane].Place.Pane = fmt.Sprint("%", pane)
	}
	c, _ := Step(r, Input{At: time.Unix(2e9, 0), What: ServerSeen{Server: "new", Agents: r.found}})
	r.apply(c)
	for i := range n {
		r.judge(fmt.Sprint("w", i+1))
	}
	return r.sum
}

// worker is one that was there; it comes back, or not.
func (r *returning) worker(n int) {
	id := fmt.Sprint("a", n)
	a := Agent{ID: id, Kind: r.of("demo", "demo", "other"), Name: r.of("api", "ui"), Ours: true, Nonce: "n" + id, Conversation: "c" + id, HadTurn: true,
		Gone: serverGone, Resumable: true, Place: r.place(n)}
	d := Dispatch{ID: fmt.Sprint("d", n), Run: "r1", Worker: fmt.Sprint("w", n), Agent: id}
	w := Worker{ID: d.Worker, Run: "r1", Name: a.Name, Kind: a.Kind, Agent: id, Dispatch: d.ID, State: resumable}
	counters, _ := get[Counters](r, "counters/")
	counters.Agent, counters.Worker, counters.Dispatch = n, n, n
	for _, e := range []Entity{counters, a, d, w} {
		r.set(e.Key(), e)
	}
	if r.Intn(5) == 0 {
		r.sum.lost++
		return
	}
	r.sum.back++
	r.back[w.ID] = true
	f := AgentFound{Kind: a.Kind, Place: a.Place, Resumes: true, Conversation: a.Conversation}
	switch r.Intn(10) {
	case 0, 1: // chosen from a list, or the last of its folder: its arguments don't tell
		f.Conversation = ""
	case 2: // somebody has taken it up twice
		r.add(f, w.ID)
	default:
		r.told[w.ID] = true
	}
	r.add(f, w.ID)
}

func (r *returning) add(f AgentFound, worker string) {
	f.Proc = Process{PID: 1000 + len(r.found), Start: 7}
	f.Place.Server = "new"
	r.found = append(r.found, f)
	r.truth[f.Proc] = worker
}

// stranger is an agent that was none of the n workers.
func (r *returning) stranger(n int) {
	r.sum.strangers++
	f := AgentFound{Kind: r.of("demo", "other"), Place: r.place(0)}
	switch r.Intn(5) {
	case 0: // a new conversation
	case 1:
		f.Resumes, f.Conversation = true, "c of nobody"
	case 2:
		f.Resumes = true
	case 3: // the id of a conversation, in a program of another kind
		f.Kind, f.Resumes, f.Conversation = "third", true, fmt.Sprint("ca", 1+r.Intn(n))
	case 4: // begun in the shell of a worker, whose environment it has
		f.Nonce = fmt.Sprint("na", 1+r.Intn(n))
	}
	r.add(f, "")
}

func (r *returning) judge(worker string) {
	w, _ := get[Worker](r, "worker/"+worker)
	a, _ := get[Agent](r, "agent/"+w.Agent)
	maybe := len(mayBe(r, a.ID)) > 0
	switch {
	case a.Gone == "" && r.truth[a.Proc] != worker:
		r.sum.wrong = append(r.sum.wrong, fmt.Sprintf("%s got the agent of %q: %+v", worker, r.truth[a.Proc], a))
	case a.Gone == "":
		r.sum.right++
	case r.told[worker]:
		r.sum.wrong = append(r.sum.wrong, fmt.Sprintf("%s is not back, though one alone runs its conversation; maybe: %v", worker, maybe))
	case r.back[worker] && !maybe:
		r.sum.wrong = append(r.sum.wrong, worker+" is back, and nobody is told that it may be")
	case r.back[worker]:
		r.sum.open++
	}
}

package orch

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the stories now tell into their files")

// TestStories plays every story: a line is the time that has passed, who, what, and its fields as JSON; what
// it changed and ordered must be what the story tells.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(ar.Files[0].Data))
			if *update {
				ar.Files = []txtar.File{ar.Files[0], {Name: "told", Data: []byte(got)}}
				if err := os.WriteFile(f, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 || got != string(ar.Files[1].Data) {
				t.Errorf("the story tells something else now; look at it and run with -update:\n%s", got)
			}
		})
	}
}

// world is a plain View that stories and the random walk play on.
type world struct {
	byKey   map[string]Entity
	puts    int
	age     map[string]int      // by key: when it was first put
	shelves map[string][]string // keys, the oldest first
}

func newWorld() *world {
	return &world{byKey: map[string]Entity{}, age: map[string]int{}, shelves: map[string][]string{}}
}

func (w *world) Entity(k string) Entity { return w.byKey[k] }

func (w *world) Each(shelf string, f func(Entity) bool) {
	for _, k := range slices.Clone(w.shelves[shelf]) {
		if e := w.byKey[k]; e != nil && !f(e) {
			return
		}
	}
}

func (w *world) apply(c Changes) {
	for _, e := range c.Puts {
		w.set(e.Key(), e)
	}
	for _, k := range c.Dels {
		w.set(k, nil)
		delete(w.age, k)
	}
}

func (w *world) set(k string, e Entity) {
	var was, is []string
	if old := w.byKey[k]; old != nil {
		was = Shelves(old)
	}
	if e != nil {
		is = Shelves(e)
	}
	if _, ok := w.age[k]; !ok {
		w.puts++
		w.age[k] = w.puts
	}
	w.byKey[k] = e
	byAge := func(a, b string) int { return w.age[a] - w.age[b] }
	for _, shelf := range was {
		if !slices.Contains(is, shelf) {
			w.shelves[shelf] = slices.DeleteFunc(w.shelves[shelf], func(o string) bool { return o == k })
		}
	}
	for _, shelf := range is {
		if !slices.Contains(was, shelf) {
			at, _ := slices.BinarySearchFunc(w.shelves[shelf], k, byAge)
			w.shelves[shelf] = slices.Insert(w.shelves[shelf], at, k)
		}
	}
	if e == nil {
		delete(w.byKey, k)
	}
}

// callers of the stories: name, then how the daemon would prove them.
func callers() map[string]Caller {
	pane := Place{Server: "srv", Pane: "%1", Window: "@1", Session: "$0", SessionName: "main", Dir: "/home/dev/api"}
	kind := func(pid int, more ...Link) Caller {
		chain := append([]Link{{Process: Process{pid + 900, 1}}}, more...)
		return Caller{Chain: append(chain, Link{Process: Process{pid, 7}, Kind: "demo"}, Link{Process: Process{pid - 1, 7}}), Place: pane, Path: "socket"}
	}
	asNobody := kind(1001)
	asNobody.As = "a9"
	other, itself, parent := kind(2001), kind(1001), kind(1001, Link{Process: Process{1050, 7}, Kind: "demo"})
	other.As, itself.As, parent.As = "a1", "a1", "a1"
	coordinator, again := kind(500), kind(600) // the second after a resume
	coordinator.Place.Pane, again.Place.Pane = "%5", "%5"
	waits := func(c Caller, pid int) Caller {
		c.Chain = append([]Link{{Process: Process{pid, 1}}}, c.Chain...)
		return c
	}
	as := func(c Caller, agent string) Caller { c.As = agent; return c }
	seat := func(pid int, pane string) Seat {
		return Seat{Process: Process{pid, 7}, Place: Place{Server: "srv", Pane: pane, SessionName: "main"}}
	}
	// A conversation that one process serves beside others; its agent can be any of the seats.
	thread := func(id string, seats ...Seat) Caller {
		return Caller{Shared: "demo", Thread: id, Seats: seats, Chain: []Link{{Process: Process{70, 1}}}, Path: "socket"}
	}
	inside := thread("one", seat(4001, "%41"))
	inside.Chain = append(inside.Chain, Link{Process: Process{71, 1}, Kind: "demo"})
	return map[string]Caller{
		"thief":       as(kind(2001), "a1"),
		"childas":     as(kind(1001, Link{Process: Process{1050, 7}, Kind: "demo"}), "a1"),
		"nobody":      as(Caller{Place: pane, Path: "socket"}, "a99"),
		"daemon":      {},
		"alone":       thread("one", seat(4001, "%41")),
		"alone-child": inside,
		"alone-new":   thread("one again", seat(4001, "%41")),
		"first":       thread("one", seat(4001, "%41"), seat(4002, "%42")),
		"second":      thread("two", seat(4001, "%41"), seat(4002, "%42")),
		"second-%42":  as(thread("two", seat(4001, "%41"), seat(4002, "%42")), "%42"),
		"second-%41":  as(thread("two", seat(4001, "%41"), seat(4002, "%42")), "%41"),
		"second-%9":   as(thread("two", seat(4001, "%41"), seat(4002, "%42")), "%9"),
		"third":       thread("three", seat(4001, "%41"), seat(4002, "%42"), seat(4003, "%43")),
		"second-on":   thread("two", seat(4001, "%41"), Seat{Process: Process{4004, 7}, Place: Place{Server: "srv", Pane: "%44"}, Thread: "two"}),
		"threadless":  thread("", seat(4001, "%41")),
		"person":      {Chain: []Link{{Process: Process{90, 1}}}, Place: pane, Path: "socket"},
		"person2":     {Chain: []Link{{Process: Process{91, 1}}}, Place: Place{Server: "srv", Pane: "%2", Session: "$0"}, Path: "socket"},
		"outside":     {Chain: []Link{{Process: Process{92, 1}}}, Path: "socket"},
		"coordinator": coordinator,
		"again":       again,
		"waiter":      waits(coordinator, 801),
		"waiter2":     waits(coordinator, 802),
		"w1":          kind(1001),
		"w2":          kind(2001),
		"w1as-a9":     asNobody,
		"w2as-a1":     other,
		"w1as-a1":     itself,
		"childas-a1":  parent,
		"w1child":     kind(1001, Link{Process: Process{1050, 7}, Kind: "demo"}),
		"stranger":    kind(9001),
		"sandboxed":   {Nonce: "n1", Path: "spool"},
		"sandboxed1":  {Nonce: "n1", Thread: "c1", Path: "sandbox"},
		"sandboxed9":  {Thread: "c9", Path: "sandbox"},
		"sandboxed2":  {Nonce: "n1", Thread: "c2", Path: "sandbox"},
		"early1":      {Chain: []Link{{Process: Process{1005, 7}}, {Process: Process{1001, 7}, Kind: "demo"}, {Process: Process{1000, 7}}}, Nonce: "n1", Path: "spool"},
		"early1child": {Chain: []Link{{Process: Process{1009, 7}, Kind: "demo"}, {Process: Process{1001, 7}, Kind: "demo"}, {Process: Process{1000, 7}}}, Nonce: "n1", Path: "spool"},
		"pane1":       {Chain: []Link{{Process: Process{1000, 7}}}, Nonce: "n1", Path: "socket"},
		"w3":          kind(3001),
		"w4":          kind(4001),
		"pane3":       {Chain: []Link{{Process: Process{3000, 7}}}, Nonce: "n3", Path: "socket"},
		"pane2":       {Chain: []Link{{Process: Process{2000, 7}}}, Nonce: "n2", Path: "socket"},
		"forger":      {Chain: []Link{{Process: Process{3000, 7}}}, Nonce: "guess", Path: "socket"},
	}
}

func play(t *testing.T, script string) string {
	w, out := newWorld(), &strings.Builder{}
	at, nonce := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), 0
	who := callers()
	for _, line := range strings.Split(script, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fmt.Fprintf(out, "> %s\n", line)
		if q, ok := strings.CutPrefix(line, "? "); ok {
			ask(t, w, at, who, q, out)
			continue
		}
		f := strings.SplitN(line, " ", 4)
		d, err := time.ParseDuration(strings.TrimPrefix(f[0], "+"))
		by, ok := who[f[1]]
		if err != nil || !ok {
			t.Fatalf("story line %q: %v, known caller: %v", line, err, ok)
		}
		body := "{}"
		if len(f) > 3 {
			body = f[3]
		}
		what, err := DecodeWhat(f[2], []byte(body))
		if err != nil {
			t.Fatalf("story line %q: %v", line, err)
		}
		at = at.Add(d)
		if f[2] == "worker-start" || f[2] == "worker-retry" {
			nonce++
		}
		c, effects := Step(w, Input{At: at, By: by, Nonce: fmt.Sprint("n", nonce), What: what})
		tell(out, w, c, effects)
		w.apply(c)
	}
	return out.String()
}

// tell writes what a step changed, in one line for each thing worth reading.
func tell(out *strings.Builder, w *world, c Changes, effects []Effect) {
	if c.Err != nil {
		fmt.Fprintf(out, "  refused %s: %s\n", c.Err.Code, c.Err.Message)
	}
	for _, e := range c.Puts {
		switch n := e.(type) {
		case Agent:
			o, _ := get[Agent](w, n.Key())
			if n.Status != o.Status || n.WaitingFor != o.WaitingFor {
				fmt.Fprintf(out, "  agent %s %s %s\n", n.ID, n.Status, n.WaitingFor)
			}
		case Worker:
			if o, _ := get[Worker](w, n.Key()); n.State != o.State {
				fmt.Fprintf(out, "  worker %s %q %s\n", n.ID, n.Name, n.State)
			}
		case Dispatch:
			o, _ := get[Dispatch](w, n.Key())
			if n.Delivery != o.Delivery || n.Why != o.Why {
				fmt.Fprintf(out, "  dispatch %s delivery=%q why=%q\n", n.ID, n.Delivery, n.Why)
			}
			if len(n.Notes) != len(o.Notes) {
				fmt.Fprintf(out, "  dispatch %s note: %s\n", n.ID, n.Notes[len(n.Notes)-1].Why)
			}
		case Message:
			if o, _ := get[Message](w, n.Key()); n.State != o.State || n.Why != o.Why {
				fmt.Fprintf(out, "  message %s %s %s\n", n.ID, n.State, n.Why)
			}
		case Gate:
			if o, _ := get[Gate](w, n.Key()); n.Status != o.Status || n.By != o.By {
				fmt.Fprintf(out, "  gate %s %s by=%q choice=%q\n", n.ID, n.Status, n.By, n.Choice)
			}
		case Word:
			if o, _ := get[Word](w, n.Key()); n.State != o.State {
				fmt.Fprintf(out, "  word %s %s\n", n.ID, n.State)
			}
		}
	}
	for _, k := range c.Dels {
		if strings.HasPrefix(k, "word/") {
			fmt.Fprintf(out, "  %s settled\n", strings.Replace(k, "/", " ", 1))
		}
	}
	for _, e := range c.Events {
		if err := CheckTypes([]string{e.Type}); err != nil {
			fmt.Fprintf(out, "  %s\n", err.Message)
		}
		fmt.Fprintf(out, "  event %s %s\n", e.Type, e.Text)
	}
	for _, e := range effects {
		raw, _ := json.Marshal(e.Do)
		fmt.Fprintf(out, "  effect %s %.160s\n", e.Do.Type(), raw)
	}
	if c.Memory {
		fmt.Fprintf(out, "  (memory only)\n")
	}
	if h, ok := c.Answer.(HookAnswer); ok {
		for _, text := range []string{h.Line, h.Context} {
			if text != "" {
				fmt.Fprintf(out, "  told %q\n", text)
			}
		}
	} else if c.Answer != nil {
		raw, _ := json.Marshal(c.Answer)
		fmt.Fprintf(out, "  answer %.160s\n", raw)
	}
}

// drawn writes a run, its workers, and the teams below.
func drawn(out *strings.Builder, t TreeInfo, indent string) {
	fmt.Fprintf(out, "%s%s of %q lead=%q\n", indent, t.Run.ID, t.Run.Coordinator, t.Run.Lead)
	for _, w := range t.Workers {
		fmt.Fprintf(out, "%s  %s %q %s %s team=%d %v\n", indent, w.ID, w.Name, w.Role, w.State, w.Team, w.TeamRuns)
	}
	for _, team := range t.Teams {
		drawn(out, team, indent+"    ")
	}
}

// ask puts a question: "? wait person w1 w2", "? start d1", "? tasks person [ready]", "? looks", "? due", "? tree person",
// "? orphans".
func ask(t *testing.T, w *world, at time.Time, who map[string]Caller, q string, out *strings.Builder) {
	f := strings.Fields(q)
	switch f[0] {
	case "wait":
		a := WaitArgs{}
		for _, n := range f[2:] {
			switch n {
			case "--any":
				a.Any = true
			case "--through-input":
				a.ThroughInput = true
			default:
				a.Workers = append(a.Workers, n)
			}
		}
		i, err := Wait(w, who[f[1]], a)
		if err != nil {
			fmt.Fprintf(out, "  refused %s: %s\n", err.Code, err.Message)
			return
		}
		fmt.Fprintf(out, "  done=%v code=%d", i.Done, i.Code)
		for _, wi := range i.Workers {
			fmt.Fprintf(out, " %s=%s", wi.ID, wi.State)
		}
		for _, n := range i.New {
			fmt.Fprintf(out, " new:%s", n.Worker)
		}
		fmt.Fprintln(out)
		if i.Done { // printed, and so told
			c, _ := Step(w, Input{At: at, By: who[f[1]], What: WaitTold{States: i.New}})
			w.apply(c)
		}
	case "start":
		i, err := Start(w, Caller{}, StartArgs{Dispatch: f[1]})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "  delivery=%q code=%d screen=%q next=%q stages", i.Delivery, i.Code, i.Screen, i.Next)
		for _, s := range i.Stages {
			if s.OK {
				fmt.Fprintf(out, " %s=%d", s.Name, s.MS)
			}
		}
		for _, o := range i.Overlaps {
			fmt.Fprintf(out, " overlaps=%s", o.Worker)
		}
		fmt.Fprintln(out)
	case "looks":
		for _, l := range Looks(w) {
			works, line := "", ""
			if l.Works {
				works = " works"
			}
			if l.Line != "" {
				line = fmt.Sprintf(" line=%q", l.Line)
			}
			fmt.Fprintf(out, "  look %s %s every %s last=%q%s%s\n", l.Agent, l.Place.Pane, l.Every, l.Last, works, line)
		}
	case "tasks":
		list, err := Tasks(w, who[f[1]], TasksArgs{Ready: len(f) > 2, Brief: true})
		if err != nil {
			fmt.Fprintf(out, "  refused %s: %s\n", err.Code, err.Message)
		}
		for _, i := range list {
			fmt.Fprintf(out, "  %s %s reason=%q dispatch=%q worker=%q attempts=%d failures=%d outcome=%q auto=%v\n",
				i.ID, i.Status, i.Reason, i.Dispatch, i.Worker, i.Attempts, i.Failures, i.Outcome, i.Auto)
		}
	case "orphans":
		infos, _ := Workers(w, Caller{}, ListArgs{All: true})
		for _, i := range infos {
			fmt.Fprintf(out, "  %s orphan=%v released=%v %s\n", i.ID, i.Orphan, i.Released != nil, i.State)
		}
	case "tree":
		trees, err := Tree(w, who[f[1]], ListArgs{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trees {
			drawn(out, tr, "  ")
		}
	case "due":
		if d := Due(w); !d.IsZero() {
			fmt.Fprintf(out, "  due %s\n", d.Format("15:04:05.000"))
		} else {
			fmt.Fprintln(out, "  nothing is due")
		}
	default:
		t.Fatalf("no question is called %q", f[0])
	}
}

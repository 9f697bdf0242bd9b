//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"st/hooks/demo"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/journal"
)

// TestFaults lets workers work while processes are killed, stopped and starved, then compares what the store says, what
// was acknowledged, and what each agent's own log says of its input. Consecutive seeds walk the list of failpoints, and
// each point must be reached. ST_SEED replays one run, ST_RUNS says how many there are, ST_LONG=1 makes 500.
func TestFaults(t *testing.T) {
	beside(t)
	if testing.Short() {
		t.Skip("real windows need minutes")
	}
	seeds := faultSeeds(t)
	var mu sync.Mutex
	var sum tally
	reached := map[string]int64{}
	atOnce := make(chan bool, counted(len(seeds), 2)) // two of 500 keep the cores busy; in an ordinary run others run beside them
	t.Run("runs", func(t *testing.T) {
		for _, n := range seeds {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				atOnce <- true
				defer func() { <-atOnce }()
				r := &faultRun{faultDesk: newFaultDesk(t), plan: planOf(n)}
				got := r.run()
				mu.Lock()
				defer mu.Unlock()
				sum.add(got)
				for _, p := range failpoint.Work {
					reached[p] += r.hits(p)
				}
			})
		}
	})
	t.Logf("%d runs: %s", len(seeds), sum)
	if len(seeds) < plansARound() {
		return
	}
	for _, p := range failpoint.Work {
		if reached[p] == 0 {
			t.Errorf("the point %s was never reached", p)
		}
	}
}

// faultSeeds are one round over the failpoints, always the same, new ones as many as ST_LONG wants, or the one that is to
// be replayed.
func faultSeeds(t *testing.T) (list []uint64) {
	if given := os.Getenv("ST_SEED"); given != "" {
		n, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return []uint64{n}
	}
	runs := counted(plansARound(), 500)
	if given := os.Getenv("ST_RUNS"); given != "" {
		var err error
		if runs, err = strconv.Atoi(given); err != nil {
			t.Fatal(err)
		}
	}
	first := uint64(1_000) // what the long run has found stays found; it alone looks for more
	if os.Getenv("ST_LONG") != "" {
		first = uint64(time.Now().UnixMilli())
	}
	for i := range runs {
		list = append(list, first+uint64(i))
	}
	return list
}

// faultRun is one run: a plan, and what came of it.
type faultRun struct {
	*faultDesk
	plan    plan
	sent    sync.Map // text of a letter → said
	started sync.Map // name → said, of the last start
	waits   sync.Map // name → said
	watch   string   // what st watch printed
	workers []orch.WorkerInfo
	ended   time.Time // when the daemon was killed at last, by the clock of the hooks
	wrong   []string
	tally   tally
}

// tally counts what a run has shown.
type tally struct {
	dispatches, messages, reports, delivered, unknown, notDelivered, lines, events, fired, pushed, news, doubt int
	took                                                                                                       time.Duration
}

func (a *tally) add(b tally) {
	a.dispatches, a.messages, a.reports = a.dispatches+b.dispatches, a.messages+b.messages, a.reports+b.reports
	a.delivered, a.unknown, a.notDelivered = a.delivered+b.delivered, a.unknown+b.unknown, a.notDelivered+b.notDelivered
	a.news, a.doubt = a.news+b.news, a.doubt+b.doubt
	a.lines, a.events, a.fired, a.pushed, a.took = a.lines+b.lines, a.events+b.events, a.fired+b.fired, a.pushed+b.pushed, a.took+b.took
}

func (a tally) String() string {
	return fmt.Sprintf("%d dispatches and %d messages (%d delivered, %d unknown, %d not delivered), %d lines taken, %d reports, %d events, %d news (%d unknown), "+
		"%d planned faults came, %d times the clock had to be pushed, %v in all",
		a.dispatches, a.messages, a.delivered, a.unknown, a.notDelivered, a.lines, a.reports, a.events, a.news, a.doubt, a.fired, a.pushed, a.took.Round(time.Second))
}

func (r *faultRun) fault(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *faultRun) run() tally {
	r.bystander()
	r.lead(leadPrompt)
	r.set("plan", strings.Join(r.plan.points, "\n")+"\n")
	quit := make(chan struct{})
	var side, acts, waits sync.WaitGroup
	side.Go(func() { r.person(quit) })
	side.Go(func() { r.watch = r.call("watch", "--since", "0").out })
	for _, j := range r.plan.jobs {
		acts.Go(func() { r.act(j) })
	}
	for _, m := range r.plan.faults {
		acts.Go(func() {
			time.Sleep(m.at) // the moment is what the plan varies
			r.suffer(m, r.plan.jobs[m.job].name)
		})
	}
	acts.Wait()
	r.set("plan", "")
	r.jot("no more faults")
	for _, j := range r.plan.jobs {
		waits.Go(func() {
			args := []string{"worker", "wait", j.name, "--through-input", "--timeout", "60s", "--json"}
			if r.plan.leadWaits {
				args = append(args, "--as", "a1")
			}
			got := r.insist(append(args, "--run", "r1")...)
			r.waits.Store(j.name, got)
		})
	}
	r.settle()
	waits.Wait()
	r.read()
	close(quit)
	r.killVerbs(len(r.runs))
	side.Wait()
	r.check(r.open())
	r.tell()
	r.tally.fired, r.tally.took = len(r.fired()), time.Since(r.began)
	return r.tally
}

// bystander is an agent that nobody has started by st, and to which nothing may be typed.
func (r *faultRun) bystander() {
	r.server.Run("new-window", "-d", "-t", "=wide:", "-n", "bystander", "-c", r.server.Dir(), r.bin, demo.Verb, "--log", r.log("bystander"))
}

// leadPrompt keeps the coordinator busy: turns of its own begin and end while its workers have news.
const leadPrompt = "say hello ;; background 0.7 ;; background 1.2 ;; background 1.9"

// lead is the coordinator, a1: an agent that a person has started by hand, with our hooks in its settings, and as which
// the test speaks. It begins run r1 before anything goes wrong. Its own hooks are what it calls beside ours at a turn's end.
func (r *faultRun) lead(prompt string, own ...string) {
	hook := func(command string) any {
		return map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 20}}}
	}
	all := map[string][]any{}
	for _, event := range demo.Events {
		all[event] = []any{hook(r.bin + " hook demo")}
	}
	for _, command := range own {
		all["Stop"] = append(all["Stop"], hook(command))
	}
	raw, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		r.t.Fatal(err)
	}
	settings := filepath.Join(r.server.Dir(), "lead.json")
	conf := "[agents_may]\ndemo_run = true\n\n[limits]\nreminder = \"1s\"\n"
	if err := errors.Join(os.WriteFile(settings, raw, 0o600), os.Mkdir(r.home, 0o700), os.WriteFile(filepath.Join(r.home, "config.toml"), []byte(conf), 0o600)); err != nil {
		r.t.Fatal(err)
	}
	if got := r.desk.st("up"); got.code != 0 {
		r.t.Fatal(got)
	}
	r.server.Run("new-window", "-d", "-t", "=wide:", "-n", "lead", "-c", r.server.Dir(), "-e", "ST_HOME="+r.home, "-e", "PATH="+filepath.Dir(r.bin)+":"+os.Getenv("PATH"),
		r.bin, demo.Verb, "--settings", settings, "--log", r.log("lead"), prompt)
	r.await("the lead is known", func() bool {
		got := r.desk.st("orch", "start", "--objective", "faults", "--as", "a1")
		return got.code == 0
	})
}

// person answers every dialog that stands on a screen, with the key of its first option.
func (r *faultRun) person(quit <-chan struct{}) {
	for {
		select {
		case <-quit:
			return
		case <-time.After(100 * time.Millisecond):
		}
		for _, j := range r.plan.jobs {
			if j.stuck || !j.asks && j.modes != "trust" {
				continue
			}
			id, _ := r.paneOf(j.name)
			if id == "" || !r.asks(id) {
				continue
			}
			r.tmux("send-keys", "-t", id, "1") //nolint:errcheck // a pane that is gone asks nothing
			within(2*time.Second, func() bool { return !r.asks(id) })
		}
	}
}

func (r *faultRun) asks(pane string) bool {
	text, err := r.tmux("capture-pane", "-p", "-t", pane)
	return err == nil && strings.Contains(text, "Enter to select")
}

// act is the coordinator's part with one worker: a start, the letters, and maybe a stop, each at the moment of the plan.
func (r *faultRun) act(j *job) {
	time.Sleep(j.begin)
	modes := j.modes
	if j.outcome == "" {
		modes = strings.Trim(modes+",no-report", ",")
	}
	got := r.order(j.name+"-start", r.start(j.name, j.room, j.task(filepath.Join(r.server.Dir(), "acked")), modes, "--turn-timeout", "5s", "--timeout", "5s", "--json")...)
	r.started.Store(j.name, got)
	for i, l := range j.letters {
		time.Sleep(l.wait)
		args := []string{"worker", "send", j.name, l.text, "--json"}
		if l.now {
			args = append(args, "--now")
		}
		r.sent.Store(l.text, r.order(fmt.Sprintf("%s-letter%d", j.name, i), args...))
	}
	if j.stop > 0 {
		time.Sleep(j.stop)
		r.order(j.name+"-stop", "worker", "stop", j.name, "--yes")
	}
}

// settle waits until nothing is under way. What only a timeout can end is hurried on: the clock jumps.
func (r *faultRun) settle() {
	const calm, pushes = 5 * time.Second, 8
	for range pushes {
		if within(calm, func() bool { return r.settled() && r.nothingOwed() }) {
			return
		}
		r.tally.pushed++
		r.jump(40 * time.Second)
		r.nudge()
	}
	r.fault("it never settled")
}

func (r *faultRun) settled() bool {
	var list struct{ Workers []orch.WorkerInfo }
	got := r.desk.st("worker", "ls", "--all", "--json")
	if got.code != 0 || got.read(&list) != nil {
		return false
	}
	for _, w := range list.Workers {
		if w.Status == "gone_resumable" || w.Sessionless != "" { // nobody will take up its conversation, or bring its session back
			r.desk.st("worker", "stop", w.ID, "--yes")
			return false
		}
	}
	// An agent that was killed at last has ended before anybody has seen it.
	unseen := func(w orch.WorkerInfo) bool {
		_, runner := r.paneOf(w.Name)
		return w.Status != "gone" && w.Pane != "" && len(children(runner)) == 0
	}
	if slices.ContainsFunc(list.Workers, unseen) {
		return false
	}
	spooled, _ := filepath.Glob(filepath.Join(r.home, "run", "spool", "[0-9]*.json")) // the pattern is well-formed
	return len(spooled) == 0 && !slices.ContainsFunc(list.Workers, func(w orch.WorkerInfo) bool { return !w.Settled && !r.honest(w) })
}

// nothingOwed looks into a copy of the store: nothing is owed to the world, nor to an agent that lives.
func (r *faultRun) nothingOwed() bool {
	dir := filepath.Join(r.server.Dir(), "look")
	defer os.RemoveAll(dir)
	raw, err := os.ReadFile(filepath.Join(r.home, journal.File))
	if err := errors.Join(err, os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, journal.File), raw, 0o600)); err != nil {
		r.t.Error(err)
		return true
	}
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		r.t.Error(err)
		return true
	}
	defer r.close(j)
	if len(j.Said()) > 0 {
		return false // it was written to while it was read
	}
	k := &record{faultRun: r, View: j.View()}
	return len(j.Owed()) == 0 && len(k.pending()) == 0
}

// honest says that a worker will never settle because nothing can be known of its line, and nobody says otherwise: Enter
// may have been pressed, and no hook has come.
func (r *faultRun) honest(w orch.WorkerInfo) bool {
	return w.Delivery == orch.Unknown && w.State == "unknown"
}

// read asks for how it all ended, as a person would.
func (r *faultRun) read() {
	var list struct{ Workers []orch.WorkerInfo }
	got := r.insist("worker", "ls", "--all", "--json")
	if err := got.read(&list); err != nil {
		r.fault("worker ls: %v: %s", err, got)
	}
	r.workers = list.Workers
}

// open ends the daemon and opens the store.
func (r *faultRun) open() *journal.Journal {
	r.ended = time.Now().Add(r.off)
	r.killDaemon()
	j, err := journal.Open(r.home, journal.Options{})
	if err != nil {
		r.fault("the store: %v", err)
	}
	return j
}

func (r *faultRun) close(j *journal.Journal) {
	if err := j.Close(); err != nil {
		r.fault("the store: %v", err)
	}
}

// tell prints everything where something is wrong.
func (r *faultRun) tell() {
	if len(r.wrong) == 0 {
		return
	}
	for _, w := range r.wrong {
		r.t.Errorf("%s", w)
	}
	r.t.Logf("ST_SEED=%d replays this:\n%s\ncame:\n%s\n\n%s", r.plan.seed, r.plan, strings.Join(r.fired(), "\n"), strings.Join(r.book, "\n"))
	for _, name := range append(r.names(), "lead") {
		r.t.Logf("the log of %s:%s", name, indented(r.jotted(name)))
	}
	files, _ := filepath.Glob(filepath.Join(r.home, "orch", "*", "run.json")) // the pattern is well-formed
	for _, f := range append(files, filepath.Join(r.server.Dir(), "acked")) {
		text, err := os.ReadFile(f)
		r.t.Logf("%s: %v\n%s", f, err, text)
	}
}

func indented(list []jotted) string {
	var b strings.Builder
	for _, j := range list {
		raw, err := json.Marshal(j)
		if err != nil {
			return err.Error()
		}
		b.WriteString("\n\t" + string(raw))
	}
	return b.String()
}

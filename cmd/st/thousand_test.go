//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"st/orch"
	"st/tmux/tmuxtest"
)

// piece is one piece of news, as the history tells of it.
type piece struct {
	word, worker, what string
	owed, told         time.Time
	way                string // by which it was told
	unknown            bool   // given up
	over               bool   // we ended it without waiting for its telling: it may be taken back
}

// fleeting says that it is over by itself, told or not.
func (p *piece) fleeting() bool { return strings.Contains(p.what, "silent") }

// ledger is the history of news, followed while it is made.
type ledger struct {
	mu      sync.Mutex
	pieces  []*piece
	byWord  map[string]*piece
	ids     map[string]string // of workers, by name
	carried int               // lines that a hook was given
	moved   int               // seats
	faults  []string
}

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// take notes an event.
func (l *ledger) take(e orch.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Type {
	case "worker-started":
		l.ids[e.Text] = e.Worker
	case "words-carried":
		l.carried++
	case "seat-moved":
		l.moved++
	case "news":
		p := &piece{word: e.Word, worker: e.Worker, what: e.Text, owed: e.At}
		l.pieces = append(l.pieces, p)
		l.byWord[e.Word] = p
	case "news-told", "news-unknown":
		p := l.byWord[e.Word]
		switch {
		case p == nil:
			l.faults = append(l.faults, "never owed: "+e.Word)
		case !p.told.IsZero():
			l.faults = append(l.faults, fmt.Sprintf("%s of %s is told twice in the history", e.Word, p.worker))
		case e.Type == "news-unknown":
			p.unknown = true
		default:
			p.told = e.At
			p.way = strings.TrimSuffix(e.Text[strings.LastIndex(e.Text, "(")+1:], ")")
		}
	}
}

// follow reads what st watch prints until it ends.
func (l *ledger) follow(d *desk) (end func()) {
	cmd := exec.Command(d.bin, "watch", "--since", "0", "--types", "worker-started,news,news-told,news-unknown,words-carried,seat-moved")
	cmd.Dir, cmd.Env = d.server.Dir(), d.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rows := bufio.NewScanner(out)
		for rows.Scan() {
			var e orch.Event
			if err := json.Unmarshal(rows.Bytes(), &e); err != nil {
				l.fault("watch: %v: %s", err, rows.Text())
				continue
			}
			l.take(e)
		}
	}()
	return func() {
		cmd.Process.Signal(syscall.SIGINT)
		<-done
		cmd.Wait()
	}
}

// see asks something of the ledger.
func (l *ledger) see(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// nth is the nth piece of one kind of news of a worker, nil where it has not come yet. Kind is its beginning.
func (l *ledger) nth(worker, kind string, n int) (found *piece) {
	l.see(func() {
		for _, p := range l.pieces {
			if p.worker == worker && strings.HasPrefix(p.what, kind) {
				if n--; n == 0 {
					found = p
				}
			}
		}
	})
	return found
}

// open are the pieces that have neither been told nor may be taken back.
func (l *ledger) open() (open []*piece) {
	l.see(func() {
		for _, p := range l.pieces {
			if p.told.IsZero() && !p.over && !p.unknown && !p.fleeting() {
				open = append(open, p)
			}
		}
	})
	return open
}

func (l *ledger) count() (n int) {
	l.see(func() { n = len(l.pieces) })
	return n
}

// hopeful waits for what must come as long as nothing has gone wrong: what comes after a fault tells nothing.
func (d *desk) hopeful(what string, is func() bool) bool {
	ok := false
	d.await(what, func() bool { ok = is(); return ok || d.t.Failed() })
	return ok
}

// killOne kills the process that which finds, as soon as it does: 0 would be all of this test.
func (d *desk) killOne(which func() int) {
	pid := 0
	if !d.hopeful("the process that is to be killed", func() bool { pid = which(); return pid > 0 }) {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		d.t.Errorf("kill %d: %v", pid, err)
	}
}

const questionNews = "asked for input (question)"

// How a worker of the test ends, and what is told of it.
var lastNews = map[string]string{"done": "finished", "fail": "failed", "mute": "ended without a report", "killed": "died", "stopped": "was stopped"}

// hand is a worker of the test and the person who answers its questions.
type hand struct {
	d         *desk
	l         *ledger
	r         *rand.Rand
	name, id  string
	questions int
	sleeps    bool // long enough to be silent
	end       string
}

// task writes the worker's task.
func (h *hand) task() string {
	var b strings.Builder
	for n := range h.questions {
		fmt.Fprintf(&b, "choose %sq%dz? | yes | no\n", h.name, n+1)
		if h.sleeps && n == 0 {
			b.WriteString("sleep 4\n")
		}
	}
	switch h.end {
	case "done", "fail":
		fmt.Fprintf(&b, "%s did %s\n", h.end, h.name)
	case "killed", "stopped":
		b.WriteString("sleep 600\n")
	}
	path := filepath.Join(h.d.server.Dir(), h.name+".md")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		h.d.t.Error(err)
	}
	return path
}

// order is the line by which the coordinator starts it.
func (h *hand) order() string {
	line := "st worker start --agent demo --name " + h.name + " --session wide --detach --task " + h.task() + " --arg --log --arg " + h.d.log(h.name)
	if h.end == "mute" {
		line += " --arg --nasty --arg no-report"
	}
	return line
}

// decided counts the questions that have been answered, by the worker's own log.
func (h *hand) decided() (n int) {
	for _, j := range h.d.jotted(h.name) {
		if j.What == "decided" && j.Dialog == "question" {
			n++
		}
	}
	return n
}

// run is the person's part, to the worker's end.
func (h *hand) run() {
	for n := 1; n <= h.questions; n++ {
		if !h.question(n) {
			return
		}
	}
	switch h.end {
	case "killed":
		h.d.killOne(func() int { return h.d.agentPID(h.name) })
	case "stopped":
		h.stop()
	}
	if !h.d.hopeful(h.name+" has ended: "+lastNews[h.end], func() bool {
		p := h.l.nth(h.id, lastNews[h.end], 1)
		return p != nil && !p.told.IsZero()
	}) {
		return
	}
	if h.end != "stopped" && h.end != "killed" {
		h.stop()
	}
}

// question sees one question to its answer, mostly after the coordinator was told of it.
func (h *hand) question(n int) bool {
	var p *piece
	if !h.d.hopeful(fmt.Sprintf("%s (%s) is news for the %dth time", h.name, h.id, n), func() bool { p = h.l.nth(h.id, questionNews, n); return p != nil }) {
		return false
	}
	if h.r.IntN(7) == 0 {
		h.l.see(func() { p.over = true })
	} else if !h.d.hopeful(fmt.Sprintf("question %d of %s (%s, %s) is told", n, h.name, h.id, p.word), func() bool {
		told := false
		h.l.see(func() { told = !p.told.IsZero() })
		return told
	}) {
		return false
	}
	return h.answer(n, h.r.IntN(2) == 0)
}

// answer answers a question that stands on the worker's screen: by the verb, or as somebody who sits there.
func (h *hand) answer(n int, verb bool) bool {
	return h.d.hopeful(fmt.Sprintf("question %d of %s is answered", n, h.name), func() bool {
		if h.decided() >= n {
			return true
		}
		id, _ := h.d.pane(h.name)
		if id == "" || !strings.Contains(h.d.server.Run("capture-pane", "-p", "-t", id), fmt.Sprintf("%sq%dz?\n", h.name, n)) {
			return false
		}
		if verb {
			h.d.st("worker", "key", h.id, "1")
		} else {
			h.d.server.Run("send-keys", "-t", id, "1")
		}
		verb = false
		return within(time.Second, func() bool { return h.decided() >= n })
	})
}

func (h *hand) stop() {
	h.d.hopeful(h.name+" is stopped", func() bool { return h.d.st("worker", "stop", h.id, "--yes").code == 0 })
}

// office is the whole: a coordinator, its workers, and chance.
type office struct {
	d     *desk
	c     *chief
	l     *ledger
	r     *rand.Rand
	hands []*hand
	most  int // workers at a time
	moves map[string]int
	trail []string // of moves, with their times
	lives []life   // of the daemons that were killed
}

// life is what one daemon has used, and how many news it has had to tell.
type life struct {
	ticks int // of 10 ms
	news  int
}

func (o *office) killDaemon() {
	pid, news := o.d.daemon(), o.l.count()
	for _, l := range o.lives {
		news -= l.news
	}
	if pid != 0 {
		o.lives = append(o.lives, life{usageOf(o.d.t, pid).ticks, news})
	}
	o.d.killDaemon()
}

// moves are what a coordinator does and what is done to it, with how likely each is.
var chiefMoves = []struct {
	name   string
	weight int
	do     func(o *office)
}{
	{"chat", 5, func(o *office) { o.c.say("") }},
	{"think", 4, func(o *office) { o.c.say(fmt.Sprintf(" ;; sleep %.1f ;; say so", 0.2+o.r.Float64())) }},
	{"tools", 4, func(o *office) { o.c.say(" ;; run true ;; run sleep 0.2 ;; run true") }},
	{"queue", 2, func(o *office) { o.c.say(" ;; sleep 1"); o.c.say(" ;; run true") }},
	{"wait", 3, func(o *office) { o.wait(false) }},
	{"wait killed", 1, func(o *office) { o.wait(true) }},
	{"rest", 5, func(o *office) { o.pause(3000) }},
	{"compact", 1, func(o *office) { o.settle(); o.c.prompt("/compact", "/compact") }},
	{"clear", 1, func(o *office) { o.settle(); o.c.clear() }},
	{"esc", 3, func(o *office) { o.escape() }},
	{"exit", 1, func(o *office) { o.c.leave(false) }},
	{"killed", 1, func(o *office) { o.c.leave(true) }},
}

// pause lets some time pass: the moment of what comes next is chance, and any will do.
func (o *office) pause(ms int) { time.Sleep(time.Duration(o.r.IntN(ms)) * time.Millisecond) }

// settle waits until the coordinator's turn is over, as somebody would who wants to give it a command.
func (o *office) settle() {
	o.d.hopeful("the coordinator's turn is over", func() bool { s := o.c.screen(); return s.Name == "ready" && !s.Working })
}

// wait has the coordinator wait for its workers, for some seconds at the most; kill ends the wait as a crash would.
func (o *office) wait(kill bool) {
	which := ""
	if o.r.IntN(3) == 0 {
		which = " --any"
	}
	token := o.c.token()
	o.c.prompt("run st worker wait"+which+" --timeout 2s ;; say "+token, token)
	if !kill {
		return
	}
	o.pause(1500)
	for _, pid := range (&bench{dir: o.d.home}).processes() {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasPrefix(string(raw), "st\x00worker\x00wait\x00") {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// escape stops the coordinator at any moment of its turn.
func (o *office) escape() {
	o.c.say(" ;; sleep 0.3 ;; run sleep 0.5 ;; sleep 1")
	o.pause(1200)
	if !o.c.interrupt() {
		return
	}
	o.pause(300)
	o.c.tidy(o.r.IntN(2) == 0)
}

// start has the coordinator start a worker, again where that came to nothing.
func (o *office) start(h *hand) {
	for range 5 {
		token := o.c.token()
		o.c.prompt("run "+h.order()+" ;; say "+token, token)
		if within(10*time.Second, func() bool { o.l.see(func() { h.id = o.l.ids[h.name] }); return h.id != "" }) {
			return
		}
	}
	o.d.t.Fatalf("%s was never started", h.name)
}

// work goes on until all workers are at their end.
func (o *office) work() {
	total := 0
	for _, m := range chiefMoves {
		total += m.weight
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, o.most)
	next := 0
	done := make(chan struct{})
	for {
		if next < len(o.hands) {
			select {
			case slots <- struct{}{}:
				h := o.hands[next]
				o.start(h)
				all.Go(func() { h.run(); <-slots })
				if next++; next == len(o.hands) {
					go func() { all.Wait(); close(done) }()
				}
				continue
			default:
			}
		}
		select {
		case <-done:
			return
		default:
		}
		n := o.r.IntN(total)
		for _, m := range chiefMoves {
			if n -= m.weight; n < 0 {
				o.moves[m.name]++
				o.trail = append(o.trail, time.Now().UTC().Format("05.000")+" "+m.name)
				m.do(o)
				break
			}
		}
		o.pause(600)
		if o.d.t.Failed() {
			all.Wait()
			return
		}
	}
}

// disturb kills the daemon now and then until stop is closed.
func (o *office) disturb(r *rand.Rand, every time.Duration, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(every/2 + time.Duration(r.Int64N(int64(every)))):
		}
		o.killDaemon()
		time.Sleep(time.Duration(r.IntN(800)) * time.Millisecond) // how long it is down is chance
		if got := o.d.st("worker", "ls", "--run", "r1"); got.code != 0 {
			o.l.fault("the next verb: %s", got)
		}
	}
}

// judge holds what reached the coordinator against the history, and both against what the workers did.
func (o *office) judge() {
	l := o.l
	lines, back := toldIn(o.c.heard("prompt", "hook-prompt", "context")), toldIn(o.c.heard("taken-back"))
	said := map[string]int{}
	for _, p := range l.pieces {
		key := p.worker + " " + p.what
		said[key] += 0
		switch {
		case p.unknown:
			l.faults = append(l.faults, p.word+" "+key+": nobody knows whether it was told")
		case p.told.IsZero() && !p.over && !p.fleeting():
			l.faults = append(l.faults, p.word+" "+key+": never told")
		case !p.told.IsZero() && p.way != "wait":
			said[key]++
		}
	}
	for key, n := range lines {
		if _, ok := said[key]; !ok {
			l.faults = append(l.faults, fmt.Sprintf("%s: told %d times and never owed", key, n))
		}
	}
	for key, n := range said {
		if lines[key]-back[key] != n {
			l.faults = append(l.faults, fmt.Sprintf("%s: it has reached the coordinator %d times, a person has taken %d of those back; the history says %d", key, lines[key], back[key], n))
		}
	}
	for _, h := range o.hands {
		o.judgeHand(h)
	}
}

// judgeHand holds a worker's own log against the news of it.
func (o *office) judgeHand(h *hand) {
	questions, ends := 0, 0
	for _, p := range o.l.pieces {
		switch {
		case p.worker != h.id:
		case p.what == questionNews:
			questions++
		case p.what == lastNews[h.end]:
			ends++
		case h.end == "mute" && p.what == lastNews["stopped"]: // it has only settled
		case !p.fleeting():
			o.l.faults = append(o.l.faults, fmt.Sprintf("%s (%s): %q is no news that was meant", h.name, h.id, p.what))
		}
	}
	if n := h.decided(); questions != n || n != h.questions || ends != 1 {
		o.l.faults = append(o.l.faults, fmt.Sprintf("%s (%s): asked %d times, answered %d, news of it %d; news of its end %d", h.name, h.id, h.questions, n, questions, ends))
	}
}

// table is what happened, in figures.
func (o *office) table(took time.Duration) string {
	var b strings.Builder
	ways, withdrawn := map[string]int{}, 0
	var late []time.Duration
	for _, p := range o.l.pieces {
		if p.told.IsZero() {
			withdrawn++
			continue
		}
		ways[p.way]++
		late = append(late, p.told.Sub(p.owed))
	}
	fmt.Fprintf(&b, "\n%d news in %.0f s: told %d (%v), withdrawn %d; %d lines by hooks, %d times the seat moved, %d times the daemon was killed\nmoves %v",
		len(o.l.pieces), took.Seconds(), len(late), ways, withdrawn, o.l.carried, o.l.moved, len(o.lives), o.moves)
	part := max(len(late)/5, 1)
	for _, s := range []struct {
		name string
		list []time.Duration
	}{{"first fifth", late[:part]}, {"last fifth", late[len(late)-part:]}} {
		list := slices.Clone(s.list)
		slices.Sort(list)
		fmt.Fprintf(&b, "\n%s: from owed to told p50 %d ms, most %d ms", s.name, list[len(list)/2].Milliseconds(), list[len(list)-1].Milliseconds())
	}
	half := len(o.lives) / 2
	for _, s := range []struct {
		name string
		list []life
	}{{"first half", o.lives[:half]}, {"last half", o.lives[half:]}} {
		all := life{}
		for _, l := range s.list {
			all.ticks, all.news = all.ticks+l.ticks, all.news+l.news
		}
		if all.news > 0 {
			fmt.Fprintf(&b, "\n%s: the daemons took %d ms of processor time for each of %d news", s.name, 10*all.ticks/all.news, all.news)
		}
	}
	return b.String()
}

// TestThousandNews: a coordinator that chats, works, waits, compacts, clears, is interrupted, leaves, is killed and comes
// back is told each event of its workers exactly once, whatever way it takes, while its daemon is killed now and then.
// The judges are the agents' own logs.
func TestThousandNews(t *testing.T) {
	beside(t)
	d := newDesk(t)
	r := seed(t)
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, "config.toml"), []byte("[limits]\nsilence = \"3s\"\nreminder = \"2s\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &office{d: d, r: r, most: 4, moves: map[string]int{}, l: &ledger{byWord: map[string]*piece{}, ids: map[string]string{}}}
	o.c = newChief(d, "wide")
	token := o.c.token()
	o.c.prompt("run st orch start --objective thousand ;; say "+token, token)
	d.await("the run is there", func() bool { return strings.Contains(d.st("orch", "ls").out, "r1") })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the coordinator's moves: %s\nits screen:\n%s", strings.Join(o.trail, ", "), tmuxtest.Screen(o.c.view()))
		}
	})
	end := o.l.follow(d)
	ends := []string{"done", "killed", "fail", "mute", "stopped"}
	for i := range counted(6, 40) {
		o.hands = append(o.hands, &hand{d: d, l: o.l, r: rand.New(rand.NewPCG(r.Uint64(), 1)), name: fmt.Sprintf("x%dx", i), questions: counted(9, 24), sleeps: i%5 == 1, end: ends[i%len(ends)]})
	}
	began := time.Now()
	stop := make(chan struct{})
	var disturbed sync.WaitGroup
	every := time.Duration(counted(8, 20)) * time.Second
	disturber := rand.New(rand.NewPCG(r.Uint64(), 1))
	disturbed.Go(func() { o.disturb(disturber, every, stop) })
	o.work()
	close(stop)
	disturbed.Wait()
	d.hopeful("nothing is owed any more", func() bool { return len(o.l.open()) == 0 })
	end()
	o.judge()
	t.Log(o.table(time.Since(began)))
	for _, f := range o.l.faults {
		t.Error(f)
	}
}

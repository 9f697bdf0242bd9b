//go:build unix

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"st/orch"
	"st/orch/journal"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("TOY_CHILD"); dir != "" {
		if err := toyChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// toyChild is the process that is killed: it does what stands on its input, a number a line, and prints
// the number once the loop has answered. At the end of its input it waits for all effects and ends.
func toyChild(dir string) error {
	l, _, err := toyLoop(dir)
	if err != nil {
		return err
	}
	l.Log = func(s string) { fmt.Fprintln(os.Stderr, s) }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	changed, _ := l.Subscribe()

	var out sync.Mutex
	var asked sync.WaitGroup
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			return err
		}
		asked.Go(func() {
			if err := toyAsk(ctx, l, n); err != nil {
				fmt.Fprintln(os.Stderr, n, err)
				return
			}
			out.Lock()
			defer out.Unlock()
			fmt.Println(n)
		})
	}
	asked.Wait()
	for open := true; open; {
		open = false
		l.Read(func(v orch.View) {
			v.Each("task", func(e orch.Entity) bool {
				open = open || e.(orch.Task).Status != "completed"
				return true
			})
		})
		if open {
			<-changed
		}
	}
	cancel()
	<-ended
	return l.Journal.Close()
}

// toyAsk does number n; the answer must be that of the first time.
func toyAsk(ctx context.Context, l *Loop, n int) error {
	var what orch.What = toyPut{N: n}
	if n%3 == 0 {
		what = toyPair{N: n}
	}
	got, err := l.Do(ctx, orch.Input{At: l.Now(), Request: "q" + strconv.Itoa(n), What: what})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(got)
	if want := fmt.Sprintf(`{"Task":"%s","X":"x"}`, toyID(n)); err != nil || string(raw) != want {
		return fmt.Errorf("answer %s, want %s (%v)", raw, want, err)
	}
	return nil
}

// TestKill kills the process that runs the loop, again and again, at any moment. Whatever was acknowledged
// is there afterwards, whatever was asked twice happened once, and the world outside saw every stage of
// every effect once. ST_KILL_SEED replays a run's numbers (not the machine's own timing), ST_LONG=1 kills
// 500 times.
func TestKill(t *testing.T) {
	rounds := 50
	if os.Getenv("ST_LONG") != "" {
		rounds = 500
	}
	seed := time.Now().UnixNano()
	if s := os.Getenv("ST_KILL_SEED"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("ST_KILL_SEED=%d", seed)
	k := &killer{t: t, dir: t.TempDir(), rand: rand.New(rand.NewSource(seed)), asked: map[int]bool{}, acked: map[int]bool{}}
	for range rounds {
		k.round()
	}
	k.finish()
	k.judge(rounds)
}

type killer struct {
	t     *testing.T
	dir   string
	rand  *rand.Rand
	next  int
	asked map[int]bool // sent at least once
	acked map[int]bool
	again int // sent more than once
}

// child starts the process; acks are the numbers it prints, closed at its end.
func (k *killer) child() (cmd *exec.Cmd, in io.WriteCloser, acks chan int) {
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TOY_CHILD="+k.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	acks = make(chan int, 1000)
	go func() {
		defer close(acks)
		for s := bufio.NewScanner(out); s.Scan(); {
			n, err := strconv.Atoi(s.Text())
			if err != nil {
				k.t.Errorf("the child said %q", s.Text())
				return
			}
			acks <- n
		}
	}()
	return cmd, in, acks
}

// round sends what has no acknowledgement yet and new numbers in a few handfuls, then kills: after a number
// of acknowledgements, sometimes none at all, and a moment.
func (k *killer) round() {
	cmd, in, acks := k.child()
	wait, moment := k.rand.Intn(12), time.Duration(k.rand.Intn(3000))*time.Microsecond
	k.send(in, 1, k.next)
	got := 0
	for range 1 + k.rand.Intn(5) {
		first := k.next + 1
		k.next += 1 + k.rand.Intn(6)
		k.send(in, first, k.next)
		for ; got < wait && len(k.acked) < k.next; got++ {
			n, ok := <-acks
			if !ok {
				k.t.Fatal("the child ended by itself")
			}
			k.acked[n] = true
		}
	}
	time.Sleep(moment) // the moment of the kill is what the test varies
	if err := cmd.Process.Kill(); err != nil {
		k.t.Fatal(err)
	}
	for n := range acks {
		k.acked[n] = true
	}
	if err := cmd.Wait(); err == nil {
		k.t.Fatal("the child ended by itself")
	}
}

// send writes those numbers that are not acknowledged.
func (k *killer) send(in io.Writer, first, last int) {
	for n := first; n <= last; n++ {
		if k.acked[n] {
			continue
		}
		if k.asked[n] {
			k.again++
		}
		k.asked[n] = true
		if _, err := fmt.Fprintln(in, n); err != nil {
			k.t.Fatal(err)
		}
	}
}

// finish lets a last child come to its end.
func (k *killer) finish() {
	cmd, in, acks := k.child()
	k.send(in, 1, k.next)
	if err := in.Close(); err != nil {
		k.t.Fatal(err)
	}
	for n := range acks {
		k.acked[n] = true
	}
	if err := cmd.Wait(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killer) judge(rounds int) {
	t := k.t
	l, world, err := toyLoop(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Journal.Close()
	if said := l.Journal.Said(); len(said) > 0 {
		t.Errorf("the store had to be recovered: %v", said)
	}
	wantLines := 0
	for n := 1; n <= k.next; n++ {
		task := toyTask(l.Journal.View(), n)
		if !k.acked[n] || task.Spec != "x" || task.Status != "completed" {
			t.Errorf("number %d: acknowledged %v, happened %d times, %s", n, k.acked[n], len(task.Spec), task.Status)
		}
		wantLines++
		if n%3 == 0 {
			wantLines++
		}
	}
	k.judgeWorld(world, wantLines)
	k.judgeHistory(l.Journal)
	if owed := l.Journal.Owed(); len(owed) > 0 {
		t.Errorf("still owed: %v", owed)
	}
	resumed := k.resumed()
	t.Logf("%d kills, %d inputs, %d sent again, %d lines outside, resumed: %v", rounds, k.next, k.again, wantLines, resumed)
	if k.again == 0 || len(resumed) == 0 {
		t.Error("no kill came in between: this run shows nothing")
	}
}

// resumed counts the effects that a later child took up, by their stage.
func (k *killer) resumed() map[string]int {
	lines, err := (&toyFile{path: filepath.Join(k.dir, "world-resumed")}).lines()
	if err != nil {
		k.t.Fatal(err)
	}
	count := map[string]int{}
	for _, l := range lines {
		count[l]++
	}
	return count
}

func (k *killer) judgeWorld(world *toyFile, want int) {
	lines, err := world.lines()
	if err != nil {
		k.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range lines {
		if seen[line] {
			k.t.Errorf("done twice: %s", line)
		}
		seen[line] = true
	}
	if len(lines) != want {
		k.t.Errorf("%d lines outside, want %d", len(lines), want)
	}
}

// judgeHistory wants two events a number and no gap in their order.
func (k *killer) judgeHistory(j *journal.Journal) {
	events, err := j.History(0, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	if len(events) != 2*k.next {
		k.t.Errorf("%d events, want %d", len(events), 2*k.next)
	}
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			k.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}

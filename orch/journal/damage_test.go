package journal

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
)

// filled makes a home folder with a store of some size, a copy of all of it, and run.json files.
func filled(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j := open(t, dir, Options{Now: func() time.Time { return noon }})
	for i := 1; i <= 40; i++ {
		id := strconv.Itoa(i)
		c := puts(
			orch.Counters{Run: 1, Task: i, Dispatch: i, Worker: i, Agent: i, Word: i},
			orch.Run{ID: "r1", Name: "api", Objective: "build it"},
			orch.Task{ID: "t" + id, Run: "r1", Spec: strings.Repeat("text ", 40*i), Status: "ready", Dispatch: "d" + id},
			orch.Worker{ID: "w" + id, Run: "r1", Agent: "a" + id, Kind: "demo", Name: "n" + id, Args: []string{"--secret"}},
			orch.Agent{ID: "a" + id, Nonce: "secret", Status: "idle"},
			orch.Dispatch{ID: "d" + id, Run: "r1", Task: "t" + id, Worker: "w" + id, Agent: "a" + id},
		)
		c.Events = []orch.Event{{At: noon, Type: "made", Task: "t" + id}}
		commit(t, j, orch.Input{Request: "q" + id}, c, orch.Effect{Do: orch.WordType{Word: "o" + id, Text: "line"}})
	}
	// The last transaction may be lost with the newest of the two roots; it has nothing that the tests compare.
	commit(t, j, orch.Input{}, orch.Changes{Events: []orch.Event{{At: noon, Type: "last"}}})
	if _, err := j.Copy(noon); err != nil {
		t.Fatal(err)
	}
	shut(t, j)
	return dir
}

// damaged copies a home folder, with another store in it.
func damaged(t testing.TB, from string, raw []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, File), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func asides(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, File+".corrupt-*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// everything is all that a state says of tasks, workers and dispatches.
func everything(v orch.View) string {
	var b strings.Builder
	for _, noun := range []string{"run", "task", "worker", "dispatch", "counters"} {
		v.Each(noun, func(e orch.Entity) bool { fmt.Fprintf(&b, "%+v\n", e); return true })
	}
	return b.String()
}

// survives opens a damaged store and wants the state whole, the damaged file kept, and the tale told.
func survives(t *testing.T, dir, want, how string, mustNotice bool) {
	t.Helper()
	j, err := Open(dir, Options{})
	if err != nil {
		t.Errorf("%s: %v", how, err)
		return
	}
	defer shut(t, j)
	if got := everything(j.View()); got != want {
		t.Errorf("%s: the state is another (%d bytes of %d), said %q", how, len(got), len(want), j.Said())
	}
	noticed := len(j.Said()) > 0
	if mustNotice && !noticed {
		t.Errorf("%s: nothing was noticed", how)
	}
	if noticed != (len(asides(t, dir)) == 1) {
		t.Errorf("%s: said %q, set aside %v", how, j.Said(), asides(t, dir))
	}
	if noticed {
		wantEvent(t, j, how)
	}
}

func wantEvent(t *testing.T, j *Journal, how string) {
	t.Helper()
	events, err := j.History(0, 0)
	if err != nil {
		t.Errorf("%s: %v", how, err)
		return
	}
	if n := len(events); n == 0 || events[n-1].Type != "store-recovered" || events[n-1].Text != j.Said()[0] {
		t.Errorf("%s: the history doesn't tell of it", how)
	}
}

func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	if s := os.Getenv("ST_DAMAGE_SEED"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("ST_DAMAGE_SEED=%d", seed)
	return rand.New(rand.NewSource(seed))
}

func times(short int) int {
	if os.Getenv("ST_LONG") != "" {
		return 10 * short
	}
	return short
}

func stateOf(t *testing.T, dir string) string {
	t.Helper()
	j := open(t, dir, Options{})
	defer shut(t, j)
	return everything(j.View())
}

func TestTruncatedStore(t *testing.T) {
	from, r := filled(t), seeded(t)
	raw, want := read(t, filepath.Join(from, File)), stateOf(t, from)
	top, err := newestMeta(raw)
	if err != nil {
		t.Fatal(err)
	}
	used := int(top.top) * int(top.pageSize)
	for range times(10) {
		n := r.Intn(used)
		survives(t, damaged(t, from, raw[:n]), want, fmt.Sprintf("cut at %d", n), true)
	}
	survives(t, damaged(t, from, nil), want, "empty", true)
	survives(t, damaged(t, from, []byte("not a store at all")), want, "text", true)
}

func TestFlippedBytes(t *testing.T) {
	from, r := filled(t), seeded(t)
	raw, want := read(t, filepath.Join(from, File)), stateOf(t, from)
	for range times(30) {
		bad, how := append([]byte{}, raw...), "flipped"
		for range 1 + r.Intn(3) {
			at, bit := r.Intn(len(bad)), byte(1)<<r.Intn(8)
			bad[at] ^= bit
			how += fmt.Sprintf(" %d^%#x", at, bit)
		}
		survives(t, damaged(t, from, bad), want, how, false)
	}
	for range times(10) {
		bad := append([]byte{}, raw...)
		at := r.Intn(len(bad) - 4096)
		for i := range 4096 {
			bad[at+i] = byte(r.Int())
		}
		survives(t, damaged(t, from, bad), want, fmt.Sprintf("noise at %d", at), false)
	}
}

// A flipped bit within a text leaves bbolt's tree intact; only our checksum sees it.
func TestFlippedText(t *testing.T) {
	from := filled(t)
	want := stateOf(t, from)
	raw := read(t, filepath.Join(from, File))
	n := strings.ReplaceAll(string(raw), `"objective":"build it"`, `"objective":"build at"`)
	if n == string(raw) {
		t.Fatal("the text isn't there")
	}
	survives(t, damaged(t, from, []byte(n)), want, "text", true)
}

func TestRestoredEffectsAreInDoubt(t *testing.T) {
	from := filled(t)
	j := open(t, damaged(t, from, nil), Options{})
	owed := j.Owed()
	if len(owed) != 40 {
		t.Fatalf("%d effects, want 40", len(owed))
	}
	for _, e := range owed {
		if !e.Started {
			t.Fatalf("effect %d would be run as if it had never been", e.ID)
		}
	}
}

// What came after the copy is taken from run.json.
func TestCopyIsMendedByRunFiles(t *testing.T) {
	from := filled(t)
	j := open(t, from, Options{})
	commit(t, j, orch.Input{}, puts(
		orch.Counters{Run: 1, Task: 41, Dispatch: 41, Worker: 40, Agent: 40, Word: 40},
		orch.Task{ID: "t41", Run: "r1", Status: "completed", Dispatch: "d41"},
		orch.Task{ID: "t1", Run: "r1", Status: "completed", Dispatch: "d1"},
		orch.Dispatch{ID: "d1", Run: "r1", Task: "t1", Worker: "w1", Agent: "a1", Report: &orch.Report{At: noon, Outcome: "succeeded", Summary: "did it"}},
		orch.Dispatch{ID: "d41", Run: "r1", Task: "t41", Worker: "w1", Agent: "a1"},
	))
	shut(t, j)
	j = open(t, damaged(t, from, nil), Options{})
	if d, ok := j.View().Entity("dispatch/d1").(orch.Dispatch); !ok || d.Report == nil || d.Report.Summary != "did it" {
		t.Errorf("the report is lost: %+v", d)
	}
	if x, ok := j.View().Entity("task/t1").(orch.Task); !ok || x.Status != "completed" || x.Spec == "" {
		t.Errorf("task t1 is %+v", x)
	}
	if d, ok := j.View().Entity("dispatch/d41").(orch.Dispatch); !ok || d.Closed != "gone" {
		t.Errorf("dispatch d41 is %+v", d)
	}
	if c := j.View().Entity("counters/").(orch.Counters); c.Task != 41 || c.Dispatch != 41 {
		t.Errorf("counters %+v would give an id twice", c)
	}
	if w := j.View().Entity("worker/w1").(orch.Worker); len(w.Args) != 1 {
		t.Errorf("what the copy knows was overwritten: %+v", w)
	}
}

func TestRebuiltFromRunFiles(t *testing.T) {
	from := filled(t)
	dir := damaged(t, from, []byte("nothing"))
	if err := os.WriteFile(filepath.Join(dir, copyFile), []byte("nothing either"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "orch", "r7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "orch", "r7", "run.json"), []byte(`{"version":1,"run":"r8"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, Options{})
	if said := strings.Join(j.Said(), "\n"); !strings.Contains(said, "restored from the run.json files") || !strings.Contains(said, "orch/r7/run.json was left out") {
		t.Errorf("said %q", said)
	}
	wantEvent(t, j, "rebuilt")
	v := j.View()
	if r, ok := v.Entity("run/r1").(orch.Run); !ok || r.Objective != "build it" {
		t.Errorf("run %+v", r)
	}
	if a, ok := v.Entity("agent/a40").(orch.Agent); !ok || a.Gone == "" || a.Status != "gone" || a.Nonce != "" {
		t.Errorf("agent %+v", a)
	}
	if c, ok := v.Entity("counters/").(orch.Counters); !ok || c.Task != 40 || c.Agent != 40 || c.Worker != 40 || c.Dispatch != 40 || c.Run != 1 {
		t.Errorf("counters %+v", c)
	}
	if x, ok := v.Entity("task/t40").(orch.Task); !ok || !strings.HasPrefix(x.Spec, "text text") {
		t.Errorf("task %+v", x)
	}
	if len(j.Owed()) != 0 {
		t.Error("something is owed")
	}
}

// A store that is gone while its copy or run files are there was not meant to start anew.
func TestMissingStore(t *testing.T) {
	from := filled(t)
	want := stateOf(t, from)
	dir := damaged(t, from, nil)
	if err := os.Remove(filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, Options{})
	if got := everything(j.View()); got != want {
		t.Error("the state is another")
	}
	if len(j.Said()) == 0 || !strings.Contains(j.Said()[0], "the store was missing") {
		t.Errorf("said %q", j.Said())
	}
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, File)
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(schemaKey, []byte("99")) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	_, err = Open(dir, Options{})
	if !errors.Is(err, ErrNewer) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "schema 99") {
		t.Errorf("a newer store: %v", err)
	}
	if string(read(t, path)) != string(before) || len(asides(t, dir)) > 0 {
		t.Error("the newer store was touched")
	}
	if next, err := Open(dir, Options{Wait: 50 * time.Millisecond}); !errors.Is(err, ErrNewer) {
		t.Errorf("the refused store is still locked: %v %v", next, err)
	}
}

func TestCopyIsMadeWhenChanged(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	path := filepath.Join(dir, copyFile)
	next, err := j.Copy(noon)
	if err != nil || !next.IsZero() {
		t.Fatal(next, err)
	}
	first := read(t, path)
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	if !j.Uncopied() {
		t.Error("a change isn't seen")
	}
	if next, err := j.Copy(noon.Add(time.Minute)); err != nil || !next.Equal(noon.Add(copyEvery)) {
		t.Errorf("after a minute: next %s, %v", next, err)
	}
	if string(read(t, path)) != string(first) {
		t.Error("the copy was made anew after a minute")
	}
	if next, err := j.Copy(noon.Add(copyEvery)); err != nil || !next.IsZero() {
		t.Errorf("after an hour: next %s, %v", next, err)
	}
	if string(read(t, path)) == string(first) || j.Uncopied() {
		t.Error("the copy wasn't made after an hour")
	}
}

// A bad store must never take the place of a good copy.
func TestCopyIsVerified(t *testing.T) {
	dir := filled(t)
	j := open(t, dir, Options{})
	path := filepath.Join(dir, copyFile)
	before := read(t, path)
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	raw := read(t, filepath.Join(dir, File))
	at := strings.Index(string(raw), `"type":"made"`)
	if at < 0 {
		t.Fatal("no event found")
	}
	f, err := os.OpenFile(filepath.Join(dir, File), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.ReplaceAll(string(raw), `"type":"made"`, `"type":"fade"`)
	_, err = f.WriteAt([]byte(damaged), 0)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Copy(noon); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the copy of a damaged store: %v", err)
	}
	if string(read(t, path)) != string(before) {
		t.Error("the good copy was replaced")
	}
}

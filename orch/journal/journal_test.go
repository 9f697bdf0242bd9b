package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"st/orch"
)

var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, dir string, options Options) *Journal {
	t.Helper()
	j, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() }) // a second close is harmless; tests that care close by shut
	return j
}

func shut(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// commit puts one input's changes into the journal.
func commit(t testing.TB, j *Journal, in orch.Input, c orch.Changes, effects ...orch.Effect) []orch.Effect {
	t.Helper()
	b := j.Begin()
	if err := b.Add(in, "hash", c, effects); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	return b.Effects()
}

func puts(es ...orch.Entity) orch.Changes { return orch.Changes{Puts: es} }

// ids are the ids of all tasks, in the view's order.
func ids(v orch.View) string {
	var list []string
	v.Each("task", func(e orch.Entity) bool {
		list = append(list, e.(orch.Task).ID+e.(orch.Task).Title)
		return true
	})
	return strings.Join(list, " ")
}

func task(id, title string) orch.Task { return orch.Task{ID: id, Run: "r1", Title: title} }

func wantIDs(t *testing.T, v orch.View, want string) {
	t.Helper()
	if got := ids(v); got != want {
		t.Errorf("tasks are %q, want %q", got, want)
	}
}

func TestOrderOfFirstPut(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	commit(t, j, orch.Input{}, puts(task("t9", ""), task("t10", "")))
	commit(t, j, orch.Input{}, puts(task("t2", ""), task("t9", "-new"), task("t1", "")))
	commit(t, j, orch.Input{}, orch.Changes{Dels: []string{"task/t10"}})
	wantIDs(t, j.View(), "t9-new t2 t1")
	shut(t, j)
	j = open(t, dir, Options{})
	wantIDs(t, j.View(), "t9-new t2 t1")
	commit(t, j, orch.Input{}, puts(task("t10", "")))
	wantIDs(t, j.View(), "t9-new t2 t1 t10")
}

func TestBatchIsSeenInItselfOnly(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	commit(t, j, orch.Input{}, puts(task("t1", ""), task("t2", "")))
	b := j.Begin()
	for _, c := range []orch.Changes{
		puts(task("t1", "-new"), task("t3", ""), task("t4", "")),
		{Dels: []string{"task/t2", "task/t4", "task/t77"}},
		puts(task("t3", "-twice")),
	} {
		if err := b.Add(orch.Input{}, "", c, nil); err != nil {
			t.Fatal(err)
		}
	}
	wantIDs(t, b.View(), "t1-new t3-twice")
	wantIDs(t, j.View(), "t1 t2")
	if e := b.View().Entity("task/t2"); e != nil {
		t.Errorf("a deleted task is %v", e)
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, j.View(), "t1-new t3-twice")
}

func TestMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	before := j.tx.Load()
	c := puts(task("t1", "-busy"), task("t2", ""))
	c.Memory = true
	commit(t, j, orch.Input{Request: "q"}, c)
	wantIDs(t, j.View(), "t1-busy t2")
	if j.tx.Load() != before {
		t.Error("a change for memory only was written")
	}
	commit(t, j, orch.Input{}, puts(task("t3", "")))
	shut(t, j)
	j = open(t, dir, Options{})
	wantIDs(t, j.View(), "t1 t3")
}

// A durable put and one for memory in the same batch: the disk gets the durable one.
func TestMemoryAfterDurable(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	b := j.Begin()
	memory := puts(task("t1", "-busy"))
	memory.Memory = true
	for _, c := range []orch.Changes{puts(task("t1", "-true")), memory} {
		if err := b.Add(orch.Input{}, "", c, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, j.View(), "t1-busy")
	shut(t, j)
	wantIDs(t, open(t, dir, Options{}).View(), "t1-true")
}

// After a put for memory only, the same put made durable must reach the disk although memory has it.
func TestDurableAfterMemory(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	memory := puts(task("t1", "-x"))
	memory.Memory = true
	commit(t, j, orch.Input{}, memory)
	commit(t, j, orch.Input{}, puts(task("t1", "-x")))
	shut(t, j)
	wantIDs(t, open(t, dir, Options{}).View(), "t1-x")
}

func TestUnchangedIsNotWritten(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	before := j.tx.Load()
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	commit(t, j, orch.Input{}, orch.Changes{Dels: []string{"task/t5"}})
	if got := j.tx.Load(); got != before {
		t.Errorf("transaction %d after %d: something was written", got, before)
	}
}

func TestFailedCommitLeavesMemory(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	commit(t, j, orch.Input{}, puts(task("t1", "")), orch.Effect{Do: orch.WordType{Word: "o1"}})
	if err := j.db.Close(); err != nil {
		t.Fatal(err)
	}
	b := j.Begin()
	c := puts(task("t1", "-new"), task("t2", ""))
	if err := b.Add(orch.Input{Effect: 1}, "", c, []orch.Effect{{Do: orch.WordType{}}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(b); err == nil {
		t.Fatal("a commit to a closed store went well")
	}
	wantIDs(t, j.View(), "t1")
	if owed := j.Owed(); len(owed) != 1 || owed[0].ID != 1 {
		t.Errorf("owed: %v", owed)
	}
}

func TestBadEntityHurtsOneInput(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	b := j.Begin()
	bad := task("t2", "")
	bad.Created = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) // no JSON for that year
	if err := b.Add(orch.Input{}, "", puts(task("t1", ""), bad), nil); err == nil {
		t.Error("an entity without JSON was taken")
	}
	if err := b.Add(orch.Input{}, "", puts(task("t3", "")), nil); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, j.View(), "t3")
}

func TestEffectIsOwedUntilItsResult(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	word := orch.WordType{Agent: "a1", Word: "o1", Text: "hello"}
	got := commit(t, j, orch.Input{}, puts(task("t1", "")), orch.Effect{Do: word}, orch.Effect{Do: orch.AgentStop{Agent: "a2"}})
	if len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 {
		t.Fatalf("effects %v, want ids 1 and 2", got)
	}
	b := j.Begin()
	if !b.Stage(1, "pasting") || b.Stage(9, "pasting") || !b.Owes(2) {
		t.Error("only an effect that is owed has stages")
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	shut(t, j)

	j = open(t, dir, Options{})
	want := []Effect{
		{Effect: orch.Effect{ID: 1, Do: word}, Started: true, Stage: "pasting"},
		{Effect: orch.Effect{ID: 2, Do: orch.AgentStop{Agent: "a2"}}},
	}
	if owed := j.Owed(); !reflect.DeepEqual(owed, want) {
		t.Errorf("owed after a restart: %+v, want %+v", owed, want)
	}
	commit(t, j, orch.Input{Effect: 1}, puts(task("t1", "-told")))
	commit(t, j, orch.Input{Effect: 2}, orch.Changes{Err: &orch.Error{Code: "no"}}) // even a refused result is one
	shut(t, j)

	j = open(t, dir, Options{})
	if owed := j.Owed(); len(owed) != 0 {
		t.Errorf("still owed: %v", owed)
	}
	if next := commit(t, j, orch.Input{}, orch.Changes{}, orch.Effect{Do: word}); next[0].ID != 3 {
		t.Errorf("the next effect has id %d, want 3: ids are never used twice", next[0].ID)
	}
}

// A change for memory that owes an effect can't be for memory only.
func TestMemoryWithEffectIsDurable(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	c := puts(task("t1", ""))
	c.Memory = true
	commit(t, j, orch.Input{}, c, orch.Effect{Do: orch.WordType{}})
	shut(t, j)
	j = open(t, dir, Options{})
	wantIDs(t, j.View(), "t1")
	if len(j.Owed()) != 1 {
		t.Error("the effect is lost")
	}
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	for i := range 5 {
		commit(t, j, orch.Input{}, orch.Changes{Events: []orch.Event{{At: noon, Type: fmt.Sprint("e", i+1)}}})
	}
	shut(t, j)
	j = open(t, dir, Options{})
	commit(t, j, orch.Input{}, orch.Changes{Events: []orch.Event{{At: noon, Type: "e6"}, {At: noon, Type: "e7"}}})
	got, err := j.History(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []orch.Event{{Seq: 4, At: noon, Type: "e4"}, {Seq: 5, At: noon, Type: "e5"}, {Seq: 6, At: noon, Type: "e6"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("history %+v, want %+v", got, want)
	}
	if rest, err := j.History(7, 0); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %v, %v", rest, err)
	}
	for _, test := range []struct {
		before uint64
		limit  int
		want   int
	}{{1, 5, 0}, {2, 5, 1}, {1 << 40, 1, 1}} {
		got, err := j.HistoryBefore(test.before, test.limit)
		if err != nil || len(got) != test.want || len(got) > 0 && got[len(got)-1].Seq >= test.before {
			t.Errorf("before %d: %+v (%v)", test.before, got, err)
		}
	}
}

func TestReceipts(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{Now: func() time.Time { return noon }})
	long := strings.Repeat("long", 1000)
	commit(t, j, orch.Input{Request: "q1"}, orch.Changes{Answer: map[string]int{"n": 7}})
	commit(t, j, orch.Input{Request: long}, orch.Changes{Answer: "long"})
	commit(t, j, orch.Input{Request: "refused"}, orch.Changes{Err: &orch.Error{Code: "no_such", Message: "none"}})
	commit(t, j, orch.Input{Request: "q3"}, orch.Changes{})
	shut(t, j)
	j = open(t, dir, Options{})
	r, ok, err := j.Receipt("q1")
	if err != nil || !ok || string(r.Answer) != `{"n":7}` || r.Hash != "hash" || !r.At.Equal(noon) {
		t.Errorf("q1: %+v %v %v", r, ok, err)
	}
	if r, ok, err := j.Receipt(long); err != nil || !ok || string(r.Answer) != `"long"` {
		t.Errorf("a long id: %+v %v %v", r, ok, err)
	}
	if r, ok, err := j.Receipt("refused"); err != nil || ok {
		t.Errorf("a refusal is kept: %+v %v", r, err)
	}
	if r, ok, err := j.Receipt("q3"); err != nil || !ok || r.Answer != nil {
		t.Errorf("q3: %+v %v %v", r, ok, err)
	}
	if _, ok, err := j.Receipt("q4"); err != nil || ok {
		t.Errorf("q4: %v %v", ok, err)
	}
}

func TestReceiptsAreForgotten(t *testing.T) {
	now := noon
	j := open(t, t.TempDir(), Options{Now: func() time.Time { return now }})
	has := func(q string, want bool) {
		t.Helper()
		if _, ok, err := j.Receipt(q); err != nil || ok != want {
			t.Errorf("receipt %s: %v, want %v (%v)", q, ok, want, err)
		}
	}
	commit(t, j, orch.Input{Request: "old"}, orch.Changes{})
	now = noon.Add(RequestAge)
	commit(t, j, orch.Input{Request: "week"}, orch.Changes{})
	has("old", true)
	now = now.Add(time.Second)
	commit(t, j, orch.Input{Request: "later"}, orch.Changes{})
	has("old", false)
	has("week", true)

	b := j.Begin()
	for i := range RequestCount - 1 {
		if err := b.Add(orch.Input{Request: fmt.Sprint("n", i)}, "", orch.Changes{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	has("week", false)
	has("later", true)
	commit(t, j, orch.Input{Request: "last"}, orch.Changes{})
	has("later", false)
	has("n0", true)
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	j := open(t, dir, Options{})
	commit(t, j, orch.Input{}, puts(orch.Run{ID: "r1"}))
	if _, err := j.Copy(noon); err != nil {
		t.Fatal(err)
	}
	shut(t, j)
	for name, want := range map[string]os.FileMode{
		"": 0o700, File: 0o600, copyFile: 0o600, "orch": 0o700, "orch/r1": 0o700, "orch/r1/run.json": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestLockedByAnother(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, Options{})
	start := time.Now()
	_, err := Open(dir, Options{Wait: 50 * time.Millisecond})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("a second open: %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it waited %s", took)
	}
}

func TestRunFileFollowsCommits(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	commit(t, j, orch.Input{}, puts(orch.Run{ID: "r1", Objective: "first"}, orch.Run{ID: "r2"}))
	for i := range 50 {
		commit(t, j, orch.Input{}, puts(orch.Run{ID: "r1", Objective: fmt.Sprint(i)}))
	}
	shut(t, j)
	path := filepath.Join(dir, "orch", "r1", "run.json")
	want := func(objective string) {
		t.Helper()
		f, err := orch.ReadRunFile("r1", read(t, path))
		if err != nil || f.Objective != objective {
			t.Errorf("run.json says %q, %v, want %q", f.Objective, err, objective)
		}
	}
	want("49")
	// A file that a crash left behind is renewed at the next start, and so is one that is missing.
	stale := strings.Replace(string(read(t, path)), `"49"`, `"48"`, 1)
	if err := os.WriteFile(path, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "orch", "r2")); err != nil {
		t.Fatal(err)
	}
	shut(t, open(t, dir, Options{}))
	want("49")
	read(t, filepath.Join(dir, "orch", "r2", "run.json"))
}

func TestRunFileFailureIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orch"), nil, 0o600); err != nil { // a file where the folder goes
		t.Fatal(err)
	}
	told := make(chan string, 10)
	j, err := Open(dir, Options{Log: func(s string) { told <- s }})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, orch.Input{}, puts(orch.Run{ID: "r1"}))
	if s := <-told; !strings.Contains(s, "run.json of r1") {
		t.Errorf("told %q", s)
	}
	if err := j.Close(); err == nil {
		t.Error("close knows nothing of it")
	}
}

func TestWrittenOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{Now: func() time.Time { return noon }})
	if !j.Written().IsZero() {
		t.Errorf("a new store was written at %s", j.Written())
	}
	commit(t, j, orch.Input{}, puts(task("t1", "")))
	commit(t, j, orch.Input{At: noon.Add(time.Hour)}, puts(task("t2", "")))
	shut(t, j)
	j = open(t, dir, Options{Now: func() time.Time { return noon.Add(-time.Hour) }})
	if got := j.Written(); !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("written at %s", got)
	}
	commit(t, j, orch.Input{}, puts(task("t3", ""))) // by whoever does not ask
	shut(t, j)
	if got := open(t, dir, Options{}).Written(); !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("written at %s after a commit with a clock that was behind", got)
	}
}

package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
)

// kept is the receipt of a request, which must be there.
func kept(t *testing.T, j *Journal, request string) Receipt {
	t.Helper()
	r, ok, err := j.Receipt(request)
	if err != nil || !ok {
		t.Errorf("receipt %s: %v, %v", request, ok, err)
	}
	return r
}

// TestSchemaOne: the receipts of an older program are still read, but for refusals, which it kept.
func TestSchemaOne(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir, Options{}))
	db, err := bbolt.Open(filepath.Join(dir, File), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(requestsByTime); err != nil {
			return err
		}
		for i, text := range []string{
			`{"request":"done","hash":"h","at":"2026-01-02T03:00:00Z","answer":{"n":7}}`,
			`{"request":"refused","hash":"h","at":"2026-01-02T03:00:00Z","error":{"code":"no","message":"no","hint":"","next":[]}}`,
		} {
			var r Receipt
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				return err
			}
			key, n := receiptKey(r.Request), number(uint64(i+1))
			stamp := append(number(uint64(r.At.UnixNano())), key...)
			if err := tx.Bucket(receiptBucket).Put(key, seal(key, []byte(text))); err != nil {
				return err
			}
			if err := tx.Bucket(receiptsByTime).Put(n, seal(n, stamp)); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(schemaKey, []byte("1"))
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	if err := verify(filepath.Join(dir, File), time.Second); err != nil {
		t.Errorf("a copy of schema 1 is of no use: %v", err)
	}
	j := open(t, dir, Options{})
	if r := kept(t, j, "done"); string(r.Answer) != `{"n":7}` || r.Input != "" || r.By != "" {
		t.Errorf("%+v", r)
	}
	if r, ok, err := j.Receipt("refused"); ok || err != nil {
		t.Errorf("the refusal: %+v, %v", r, err)
	}
	commit(t, j, orch.Input{Request: "refused", What: orch.RunStart{}}, orch.Changes{Answer: "at last"})
	shut(t, j)
	j = open(t, dir, Options{})
	if r := kept(t, j, "refused"); string(r.Answer) != `"at last"` || r.Input != "run-start" || r.By != "person" {
		t.Errorf("%+v", r)
	}
}

// TestFactsAreCountedApart: however many hooks there are, an order is remembered.
func TestFactsAreCountedApart(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	commit(t, j, orch.Input{Request: "order", What: orch.WorkerStop{Worker: "w1"}}, orch.Changes{})
	commit(t, j, orch.Input{Request: "fact", What: orch.Hook{}}, orch.Changes{})
	b := j.Begin()
	for i := range RequestCount {
		if err := b.Add(orch.Input{Request: fmt.Sprint("n", i), What: orch.Hook{}}, "", orch.Changes{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Commit(b); err != nil {
		t.Fatal(err)
	}
	kept(t, j, "order")
	if _, ok, err := j.Receipt("fact"); ok || err != nil {
		t.Errorf("the oldest fact: %v, %v", ok, err)
	}
}

// TestCompleted: what came of a request takes the place of its first answer, or frees its id.
func TestCompleted(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	for _, q := range []string{"done", "nothing"} {
		commit(t, j, orch.Input{Request: q, What: orch.WorkerKey{}}, orch.Changes{Answer: "begun"})
	}
	commit(t, j, orch.Input{Request: "done", Completes: true, What: orch.KeysPressed{}}, orch.Changes{Answer: "pressed"})
	commit(t, j, orch.Input{Request: "nothing", Completes: true, What: orch.KeysPressed{}}, orch.Changes{})
	commit(t, j, orch.Input{Request: "unknown", Completes: true, What: orch.KeysPressed{}}, orch.Changes{Answer: "pressed"})
	shut(t, j)
	j = open(t, dir, Options{})
	if r := kept(t, j, "done"); string(r.Answer) != `"pressed"` || r.Input != "worker-key" || r.Hash != "hash" {
		t.Errorf("%+v", r)
	}
	for _, q := range []string{"nothing", "unknown"} {
		if r, ok, err := j.Receipt(q); ok || err != nil {
			t.Errorf("%s: %+v, %v", q, r, err)
		}
	}
}

// TestStartsComeBack: where the store is lost, or its copy older than a start, the run's file tells of the request.
func TestStartsComeBack(t *testing.T) {
	for _, copied := range []bool{true, false} {
		t.Run(fmt.Sprint("copy ", copied), func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, dir, Options{})
			if copied {
				if _, err := j.Copy(time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			worker := orch.Worker{ID: "w1", Run: "r1", Name: "api", Kind: "demo", Agent: "a1", Dispatch: "d1", Request: "nightly", Created: time.Now().UTC()}
			commit(t, j, orch.Input{Request: "nightly", What: orch.WorkerStart{}}, puts(orch.Run{ID: "r1"}, worker,
				orch.Task{ID: "t1", Run: "r1"}, orch.Dispatch{ID: "d1", Run: "r1", Task: "t1", Worker: "w1", Agent: "a1"}))
			shut(t, j)
			if err := os.Remove(filepath.Join(dir, File)); err != nil {
				t.Fatal(err)
			}
			j = open(t, dir, Options{})
			var a orch.StartAnswer
			r := kept(t, j, "nightly")
			want := orch.StartAnswer{Run: "r1", Worker: "w1", Name: "api", Task: "t1", Dispatch: "d1", Agent: "a1"}
			if err := json.Unmarshal(r.Answer, &a); err != nil || a != want || r.Input != "worker-start" || r.Hash != "" || r.By != "person" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

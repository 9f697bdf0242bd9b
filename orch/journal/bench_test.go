package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"st/orch"
)

// record400 is an entity of about 400 bytes of JSON that differs from call to call.
func record400(i int) orch.Task {
	return orch.Task{ID: fmt.Sprint("t", i%1000), Title: fmt.Sprintf("%09d", i), Spec: strings.Repeat("x", 250)}
}

// BenchmarkStoreCommit is one writer, 400 bytes durable each time: append and sync of a plain file is what
// the system can do at best.
func BenchmarkStoreCommit(b *testing.B) {
	b.Run("append", func(b *testing.B) {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		line := []byte(strings.Repeat("x", 400))
		for b.Loop() {
			_, err := f.Write(line)
			if err := errors.Join(err, f.Sync()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("journal", func(b *testing.B) {
		j := open(b, b.TempDir(), Options{})
		i := 0
		for b.Loop() {
			commit(b, j, orch.Input{}, puts(record400(i)))
			i++
		}
	})
}

// BenchmarkStoreGroup is 64 writers at once, against a transaction for each event. The time is that of one
// event.
func BenchmarkStoreGroup(b *testing.B) {
	b.Run("transaction-each", func(b *testing.B) {
		j := open(b, b.TempDir(), Options{})
		writers(b, func(i int) error {
			return j.db.Update(func(tx *bbolt.Tx) error {
				e := record400(i)
				return putJSON(tx.Bucket(entityBucket), []byte(e.Key()), e)
			})
		})
	})
	b.Run("journal", func(b *testing.B) {
		j := open(b, b.TempDir(), Options{})
		type ask struct {
			e    orch.Task
			done chan error
		}
		asks := make(chan ask, 64)
		defer close(asks)
		go func() {
			for a := range asks {
				batch, waiting := j.Begin(), []ask{a}
				for len(asks) > 0 {
					waiting = append(waiting, <-asks)
				}
				var err error
				for _, a := range waiting {
					err = errors.Join(err, batch.Add(orch.Input{}, "", puts(a.e), nil))
				}
				err = errors.Join(err, j.Commit(batch))
				for _, a := range waiting {
					a.done <- err
				}
			}
		}()
		writers(b, func(i int) error {
			done := make(chan error, 1)
			asks <- ask{record400(i), done}
			return <-done
		})
	})
}

func writers(b *testing.B, write func(i int) error) {
	var all sync.WaitGroup
	next := make(chan int)
	for range 64 {
		all.Go(func() {
			for i := range next {
				if err := write(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	i := 0
	for b.Loop() {
		next <- i
		i++
	}
	close(next)
	all.Wait()
}

// BenchmarkOpen is a start with a long history.
func BenchmarkOpen(b *testing.B) {
	for _, events := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			dir := b.TempDir()
			j := open(b, dir, Options{})
			c := puts(record400(1))
			for range events {
				c.Events = append(c.Events, orch.Event{At: noon, Type: "turn-ended", Run: "r1", Agent: "a1", Worker: "w1"})
			}
			commit(b, j, orch.Input{}, c)
			shut(b, j)
			for b.Loop() {
				j, err := Open(dir, Options{})
				if err == nil {
					err = j.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

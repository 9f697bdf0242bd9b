//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
	"st/orch/journal"
)

// store measures 400 bytes made durable: by one writer beside append and sync, which is what the system can do at best,
// and by 64 writers whose waiting events become one transaction beside a transaction for each.
func (b *bench) store() (err error) {
	dir, err := os.MkdirTemp("", "st-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	j, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	db, err := bbolt.Open(filepath.Join(dir, "each"), 0o600, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s := &storing{j: j, f: f, db: db}
	got, err := interleave(b.samples(1000, 100), timed("journal", s.commit), timed("append", s.append))
	if err != nil {
		return err
	}
	b.table.ratio("store-commit", "append and sync", got["journal"], got["append"], 2.5)
	got, err = interleave(b.samples(100, 10), each("journal", s.group), each("each", s.transactions))
	if err != nil {
		return err
	}
	times := float64(got["each"].p50()) / float64(got["journal"].p50())
	b.table.rows = append(b.table.rows, row{
		name: "store-group", beside: "a transaction each", own: got["journal"], peer: got["each"],
		said: fmt.Sprintf("%.3g× faster", times), mark: "≥ 12×", ok: times >= 12,
	})
	return nil
}

// storing are the ways of making an event durable.
type storing struct {
	j  *journal.Journal
	f  *os.File
	db *bbolt.DB
	n  int
}

// event is an entity of about 400 bytes that differs from call to call.
func (s *storing) event() orch.Task {
	s.n++
	return orch.Task{ID: fmt.Sprint("t", s.n%1000), Title: fmt.Sprintf("%09d", s.n), Spec: strings.Repeat("x", 250)}
}

func (s *storing) add(b *journal.Batch, t orch.Task) error {
	return b.Add(orch.Input{}, "", orch.Changes{Puts: []orch.Entity{t}}, nil)
}

func (s *storing) commit() error {
	b := s.j.Begin()
	return errors.Join(s.add(b, s.event()), s.j.Commit(b))
}

func (s *storing) append() error {
	_, err := s.f.WriteString(strings.Repeat("x", 400))
	return errors.Join(err, s.f.Sync())
}

// writers is how many have something to store at once.
const writers = 64

// each is a way of storing one event of every writer; an event's part of it counts.
func each(name string, do func([]orch.Task) error) way {
	return way{name, func() (time.Duration, error) {
		events := make([]orch.Task, writers)
		for i := range events {
			events[i] = (&storing{n: i * 7919}).event()
		}
		begun := time.Now()
		err := do(events)
		return time.Since(begun) / writers, err
	}}
}

// group is what the daemon's loop does: one goroutine takes all that waits.
func (s *storing) group(events []orch.Task) error {
	type ask struct {
		event orch.Task
		done  chan error
	}
	asks := make(chan ask, writers)
	return s.atOnce(events, func(t orch.Task) error {
		a := ask{t, make(chan error, 1)}
		asks <- a
		return <-a.done
	}, func() {
		for taken := 0; taken < len(events); {
			waiting := []ask{<-asks}
			for len(asks) > 0 {
				waiting = append(waiting, <-asks)
			}
			b := s.j.Begin()
			var err error
			for _, a := range waiting {
				err = errors.Join(err, s.add(b, a.event))
			}
			err = errors.Join(err, s.j.Commit(b))
			for _, a := range waiting {
				a.done <- err
			}
			taken += len(waiting)
		}
	})
}

func (s *storing) transactions(events []orch.Task) error {
	return s.atOnce(events, func(t orch.Task) error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("events"))
			if err != nil {
				return err
			}
			return bucket.Put([]byte(t.Key()), []byte(t.Title+t.Spec+strings.Repeat("y", 140)))
		})
	}, func() {})
}

// atOnce lets every event be written by a writer of its own, while serve runs.
func (s *storing) atOnce(events []orch.Task, write func(orch.Task) error, serve func()) error {
	var all sync.WaitGroup
	errs := make([]error, len(events))
	for i, e := range events {
		all.Go(func() { errs[i] = write(e) })
	}
	serve()
	all.Wait()
	return errors.Join(errs...)
}

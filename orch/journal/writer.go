package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"st/orch"
	"st/orch/failpoint"
)

// writer writes the run.json files behind the commits, in one goroutine: a run that changes often is
// written as often as the disk can, and the newest state wins.
type writer struct {
	j    *Journal
	wake chan struct{} // size 1
	done chan struct{}

	failed map[string]error // by run: why its file is not up to date; the goroutine's own until done

	mu      sync.Mutex
	touched map[string]bool
	closing bool
}

func newWriter(j *Journal) *writer {
	w := &writer{j: j, wake: make(chan struct{}, 1), done: make(chan struct{}), touched: map[string]bool{}, failed: map[string]error{}}
	go w.loop()
	return w
}

// touch says that these runs have changed.
func (w *writer) touch(runs []string) {
	if len(runs) == 0 {
		return
	}
	w.mu.Lock()
	for _, r := range runs {
		w.touched[r] = true
	}
	w.mu.Unlock()
	w.ring()
}

func (w *writer) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// refresh looks at every run's file, for the case that a crash came between a commit and its file.
func (w *writer) refresh() {
	var runs []string
	w.j.mem.Each("run", func(e orch.Entity) bool {
		runs = append(runs, e.(orch.Run).ID)
		return true
	})
	w.touch(runs)
}

// close writes what is left.
func (w *writer) close() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.ring()
	<-w.done
	return errors.Join(slices.Collect(maps.Values(w.failed))...)
}

func (w *writer) loop() {
	defer close(w.done)
	for range w.wake {
		runs, closing := w.take()
		for _, run := range runs {
			w.note(run, w.write(run))
		}
		if closing {
			return
		}
	}
}

// note tells of a failure once; the file is tried again with the run's next change, or at the next start.
func (w *writer) note(run string, err error) {
	if err == nil {
		delete(w.failed, run)
		return
	}
	if w.failed[run] == nil {
		w.j.options.Log(err.Error())
	}
	w.failed[run] = err
}

func (w *writer) take() (runs []string, closing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.touched {
		runs = append(runs, r)
	}
	w.touched = map[string]bool{}
	sort.Strings(runs)
	return runs, w.closing
}

// write writes one run's file, unless it stands there already.
func (w *writer) write(run string) error {
	var f orch.RunFile
	ok := false
	w.j.Read(func(v orch.View) { f, ok = orch.Project(v, run) })
	if !ok {
		return nil
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("run.json of %s: %w", run, err)
	}
	raw = append(raw, '\n')
	dir := filepath.Join(w.j.dir, "orch", run)
	path := filepath.Join(dir, "run.json")
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, raw) {
		return nil
	}
	failpoint.At("journal.runfile.before")
	if err := errors.Join(failpoint.Fail("journal.runfile.full"), os.MkdirAll(dir, 0o700), writeFile(path, raw)); err != nil {
		return fmt.Errorf("run.json of %s: %w", run, err)
	}
	failpoint.At("journal.runfile.after")
	return nil
}

// runsOf are the runs whose file a batch changes.
func runsOf(b *Batch) []string {
	seen := map[string]bool{}
	var runs []string
	for _, c := range b.over.list {
		run := ""
		if c.durable {
			run = runOf(c.e)
		}
		if run != "" && !seen[run] {
			seen[run] = true
			runs = append(runs, run)
		}
	}
	return runs
}

func runOf(e orch.Entity) string {
	switch e := e.(type) {
	case orch.Run:
		return e.ID
	case orch.Task:
		return e.Run
	case orch.Worker:
		return e.Run
	case orch.Dispatch:
		return e.Run
	case orch.Message:
		return e.Run
	case orch.Gate:
		return e.Run
	}
	return ""
}

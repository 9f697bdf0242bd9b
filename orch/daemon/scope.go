package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/worktree"
)

// checkTime is how long it may take to find out what a worker has changed: its report waits for that.
const checkTime = 6 * time.Second

// writeScope writes what a worker may edit into the folder of its launch, where its hooks read it, and how its folder
// stands at the begin. It returns the path of the first.
func (d *doer) writeScope(o orch.PaneOpen, dir string) (string, error) {
	text, err := json.Marshal(hooks.Scoped{Worker: o.Worker, Dir: o.Dir, Home: d.home, Scope: o.Scope})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "scope.json")
	if err := hooks.WriteOwn(path, text); err != nil {
		return "", err
	}
	return path, d.writeBegin(o)
}

// scopeOf is the scope of a worker, nil where it has none.
func (d *doer) scopeOf(worker string) (s orch.Scope) {
	d.state(func(v orch.View) {
		if w, ok := v.Entity("worker/" + worker).(orch.Worker); ok {
			s = w.Scope
		}
	})
	return s
}

// beginPath is where it stands how a worker's folder was at its begin: beside its task copy, since it outlives its agent.
func beginPath(copy, worker string) string {
	return filepath.Join(filepath.Dir(copy), worker+".begin.json")
}

// writeBegin notes how a worker's folder stands, once: an agent that is started again goes on with the same work. In a
// folder that git does not know there is nothing to note.
func (d *doer) writeBegin(o orch.PaneOpen) error {
	path := beginPath(o.Copy, o.Worker)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	begin, err := worktree.BeginOf(ctx, o.Dir)
	if errors.Is(err, worktree.ErrNone) || errors.Is(err, worktree.ErrNoGit) {
		return nil
	}
	if err != nil {
		d.log.Printf("worker %s: what it changes will not be found out: %v", o.Worker, err)
		return nil
	}
	d.begins.Lock()
	defer d.begins.Unlock()
	if _, err := os.Stat(path); err == nil { // its setup has ended meanwhile, see noteSetup
		return nil
	}
	return putBegin(path, begin)
}

func putBegin(path string, b worktree.Begin) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return hooks.WriteOwn(path, text)
}

// takeBegin reads how a folder stood; fs.ErrNotExist where nobody has noted it.
func takeBegin(path string) (b worktree.Begin, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}

// noteSetup takes what was changed until a setup has ended beside its worker as there from the begin: it was the setup's, or
// can't be told from that. Where this can't be found out, nothing of the begin is known any more.
func (d *doer) noteSetup(ctx context.Context, o orch.SetupRun, path string) {
	if len(d.scopeOf(o.Worker)) == 0 {
		return
	}
	within, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	begin, err := takeBegin(path)
	if errors.Is(err, fs.ErrNotExist) { // its window is still to come
		begin, err = worktree.BeginOf(within, o.Dir)
	} else if err == nil {
		begin, err = begin.Later(within, o.Dir)
	}
	if ctx.Err() != nil { // the next daemon does it
		return
	}
	d.begins.Lock()
	defer d.begins.Unlock()
	if err == nil {
		err = putBegin(path, begin)
	}
	if err != nil {
		d.log.Printf("worker %s: what it changes will not be found out: %v", o.Worker, errors.Join(err, removed(path)))
	}
}

// removed removes a file that may be gone already.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkScope finds out what was changed outside the scope of the worker that reports, for its report. What other workers
// with a scope may have changed in the same folder meanwhile is not its own.
func (d *daemon) checkScope(ctx context.Context, by orch.Caller, o orch.WorkerDone) orch.WorkerDone {
	o.Outside, o.Unchecked = nil, ""
	var w orch.Worker
	var beside []orch.Worker
	copied := ""
	ok, setup := false, false
	d.loop.Read(func(v orch.View) {
		if w, beside, ok = orch.ScopeFor(v, by); ok {
			if e, is := v.Entity("dispatch/" + w.Dispatch).(orch.Dispatch); is {
				copied = e.Copy
			}
			setup = orch.SetupRuns(v, w.ID)
		}
	})
	switch {
	case !ok:
		return o
	case setup:
		o.Unchecked = "its setup still runs, and changes files beside it"
		return o
	}
	changed, err := changedSince(ctx, w.Dir, beginPath(copied, w.ID))
	if err != nil {
		o.Unchecked = cause(err).Error()
		d.log.Printf("worker %s: what it has changed: %v", w.ID, err)
		return o
	}
	for _, name := range changed {
		inside := filepath.IsLocal(filepath.FromSlash(name)) && w.Scope.Allows(name)
		if !inside && !anothers(beside, filepath.Join(w.Dir, filepath.FromSlash(name))) {
			o.Outside = append(o.Outside, name)
		}
	}
	if len(o.Outside) > outsideMost {
		o.Outside = append(o.Outside[:outsideMost], fmt.Sprintf("and %d more", len(o.Outside)-outsideMost))
	}
	return o
}

// outsideMost is how many files a report names.
const outsideMost = 50

func changedSince(ctx context.Context, dir, path string) ([]string, error) {
	begin, err := takeBegin(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("how its folder stood when it began is not known; only git tells that, in a repository")
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return worktree.Since(ctx, dir, begin)
}

// anothers tells that a file is in the scope of another worker.
func anothers(workers []orch.Worker, path string) bool {
	return slices.ContainsFunc(workers, func(w orch.Worker) bool {
		rel, err := filepath.Rel(w.Dir, path)
		return err == nil && filepath.IsLocal(rel) && w.Scope.Allows(filepath.ToSlash(rel))
	})
}

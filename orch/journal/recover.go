package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
)

// openOrRecover opens the store. What is damaged, or gone while something of it is left, is replaced: by
// the verified copy, else by what the run.json files tell. A store that is locked, that can't be written
// or that is newer than this program is left alone.
func (j *Journal) openOrRecover() error {
	if err := writable(j.dir); err != nil {
		return err
	}
	err := j.open(filepath.Join(j.dir, File))
	if err == nil {
		return j.begin()
	}
	var why string
	switch {
	case errors.Is(err, fs.ErrNotExist) && !leftovers(j.dir):
		return j.create()
	case errors.Is(err, fs.ErrNotExist):
		why = "the store was missing"
	case errors.Is(err, ErrCorrupt):
		aside, err2 := j.setAside()
		if err2 != nil {
			return errors.Join(err, err2)
		}
		why = fmt.Sprintf("%v; it was moved to %s", err, aside)
	default:
		return err
	}
	return j.recover(why)
}

// create makes a store where there is none. It is made under another name, so that a crash leaves either
// none or a whole one.
func (j *Journal) create() error {
	next := filepath.Join(j.dir, File+".new")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	db, err := bbolt.Open(next, 0o600, j.bolt())
	if err != nil {
		return storeError(err)
	}
	if err := errors.Join(unlessNothing(migrate(db)), db.Close()); err != nil {
		return storeError(err)
	}
	if err := j.install(next); err != nil {
		return err
	}
	if err := j.open(filepath.Join(j.dir, File)); err != nil {
		return err
	}
	return j.begin()
}

func (j *Journal) bolt() *bbolt.Options {
	return &bbolt.Options{Timeout: j.options.Wait, FreelistType: bbolt.FreelistMapType}
}

// install renames a finished file to the store's name, durably.
func (j *Journal) install(next string) error {
	if err := os.Rename(next, filepath.Join(j.dir, File)); err != nil {
		return storeError(err)
	}
	return syncDir(j.dir)
}

// open opens an existing store, checks it and reads it.
func (j *Journal) open(path string) error {
	if err := sound(path, j.options.Wait); err != nil {
		return err
	}
	return guarded(func() error {
		db, err := bbolt.Open(path, 0o600, j.bolt())
		if err != nil {
			return storeError(err)
		}
		j.db = db
		if err := j.ready(); err != nil {
			return errors.Join(err, db.Close())
		}
		return nil
	})
}

func (j *Journal) ready() error {
	if err := check(j.db); err != nil {
		return err
	}
	if err := unlessNothing(migrate(j.db)); err != nil {
		return storeError(err)
	}
	return j.load()
}

// guarded runs f such that a panic, or a fault in mapped memory, is an error that says the store is
// damaged.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return f()
}

// check runs bbolt's own consistency check.
func check(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		var first error
		for err := range tx.Check() {
			if first == nil {
				first = fmt.Errorf("%w: %w", ErrCorrupt, err)
			}
		}
		return first
	})
}

// leftovers reports whether a folder without a store holds something of one.
func leftovers(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, copyFile)); err == nil {
		return true
	}
	found, err := filepath.Glob(filepath.Join(dir, "orch", "*", "run.json"))
	return err == nil && len(found) > 0
}

// setAside renames a damaged store; it is never deleted, somebody may get more out of it.
func (j *Journal) setAside() (string, error) {
	name := File + ".corrupt-" + j.options.Now().UTC().Format("20060102T150405.000000000Z")
	if err := os.Rename(filepath.Join(j.dir, File), filepath.Join(j.dir, name)); err != nil {
		return "", storeError(err)
	}
	return name, syncDir(j.dir)
}

// recover puts a store in the place of one that is lost.
func (j *Journal) recover(why string) error {
	files, notes := readRunFiles(j.dir)
	from, err := j.restoreCopy()
	if err != nil {
		notes = append(notes, err.Error())
		from = "the run.json files"
		if len(files) == 0 {
			from = "nothing: there was no copy and no run.json file"
		}
		if err := j.create(); err != nil {
			return err
		}
	} else if err := j.begin(); err != nil {
		return err
	}
	text := fmt.Sprintf("%s; restored from %s", why, from)
	j.said = append(j.said, text)
	j.said = append(j.said, notes...)
	return j.mended(files, text)
}

// restoreCopy opens the verified copy as the store.
func (j *Journal) restoreCopy() (from string, err error) {
	path := filepath.Join(j.dir, copyFile)
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("no copy: %w", err)
	}
	next := filepath.Join(j.dir, File+".new")
	if err := copyTo(path, next); err != nil {
		return "", err
	}
	if err := verify(next, j.options.Wait); err != nil {
		return "", fmt.Errorf("the copy is of no use: %w", err)
	}
	if err := j.install(next); err != nil {
		return "", err
	}
	if err := j.open(filepath.Join(j.dir, File)); err != nil {
		return "", err
	}
	return "the copy of " + info.ModTime().UTC().Format(time.RFC3339), nil
}

// mended commits what the run.json files tell beyond the store. Whatever the store takes for owed may have
// been run since it was copied, so it comes back as started: whoever runs it looks first.
func (j *Journal) mended(files []orch.RunFile, text string) error {
	at := j.options.Now().UTC()
	b := j.Begin()
	for _, e := range j.Owed() {
		b.Start(e.ID)
	}
	c := orch.Changes{
		Puts:   orch.Mend(j.mem, files, at),
		Events: []orch.Event{{At: at, Type: "store-recovered", Text: text}},
	}
	if err := b.Add(orch.Input{At: at}, "", c, nil); err != nil {
		return err
	}
	if err := j.recall(b, files); err != nil {
		return err
	}
	return j.Commit(b)
}

// recall brings back the requests by which workers were started after the store was copied. What exactly was asked
// for is not known of them.
func (j *Journal) recall(b *Batch, files []orch.RunFile) error {
	for _, q := range orch.Recall(files) {
		_, kept, err := j.Receipt(q.ID)
		if err != nil {
			return err
		}
		answer, err := json.Marshal(q.Answer)
		if err != nil {
			return err
		}
		if !kept {
			b.recall(Receipt{Request: q.ID, At: q.At, Input: q.Input, By: q.Asker, Answer: answer})
		}
	}
	return nil
}

// readRunFiles reads every run.json; what can't be used is told in notes.
func readRunFiles(dir string) (files []orch.RunFile, notes []string) {
	paths, err := filepath.Glob(filepath.Join(dir, "orch", "*", "run.json"))
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, path := range paths {
		run := filepath.Base(filepath.Dir(path))
		raw, err := readLimited(path, runFileMost)
		if err == nil {
			var f orch.RunFile
			if f, err = orch.ReadRunFile(run, raw); err == nil {
				files = append(files, f)
				continue
			}
		}
		notes = append(notes, fmt.Sprintf("orch/%s/run.json was left out: %s", run, strings.TrimSpace(err.Error())))
	}
	return files, notes
}

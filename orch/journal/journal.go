// Package journal keeps the state: durable in one bbolt file, and whole in memory.
//
// It holds entities by key, the history, the effects that are owed to the outside world, and receipts of
// requests. A batch of inputs is one transaction, synced to disk before memory changes, so that nothing is
// told to anybody that a crash could take back. What it means is up to orch; when to commit, and who is
// answered, is up to the daemon's loop.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"st/orch"
)

// File is the name of the store within the home folder.
const File = "st.db"

// What can be wrong with a store. Test with errors.Is.
var (
	ErrLocked   = errors.New("the store is held by another process")
	ErrReadOnly = errors.New("the store can't be written")
	ErrCorrupt  = errors.New("the store is damaged")
	ErrNewer    = errors.New("the store was written by a newer version")
)

// Options of a journal; the zero value serves.
type Options struct {
	Now  func() time.Time // nil = time.Now
	Wait time.Duration    // for a store that another process holds; 0 = 2 s
	// Log is told when a run.json could not be written; nil = nobody. It must be safe for any goroutine.
	Log func(string)
	// Order reads an effect's order; nil = orch.DecodeOrder.
	Order func(name string, raw []byte) (orch.Order, error)
}

// Effect is an owed effect and how far it has got.
type Effect struct {
	orch.Effect
	Started bool   // it may have been run in part or in whole
	Stage   string // what it last told about itself
}

// Journal is an open store. One goroutine owns it: View, Begin, Commit and Owed are for that one only.
// Read, History, HistoryBefore, Newest, Receipt and Copy may be called from anywhere.
type Journal struct {
	dir     string
	options Options
	db      *bbolt.DB
	said    []string
	trouble error // of the last write; guarded by mu
	broken  error // set when a write ended in doubt; no further write is tried

	mu  sync.RWMutex // held for writing while a commit changes mem, for reading by those who don't own it
	mem *memory

	written    time.Time // when the newest commit of before was made; no later one is told to be older
	nextOrder  uint64
	nextEvent  uint64
	nextEffect uint64
	owed       map[uint64]Effect

	tx     atomic.Int64 // newest transaction
	copied copier
	writer *writer
}

// Said tells what Open had to do to get at the state, for the log; usually nothing.
func (j *Journal) Said() []string { return j.said }

// Trouble is why the last write failed; nil where it did not. It may be called from any goroutine.
func (j *Journal) Trouble() error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.trouble
}

// Written is when the newest commit of the store that was opened was made, zero where nothing tells. What is kept
// is full of times that lie before it: a clock that is behind it would take what happens now for something old.
func (j *Journal) Written() time.Time { return j.written }

// View is the committed state, for the owner.
func (j *Journal) View() orch.View { return j.mem }

// Read lets f look at the committed state, from any goroutine. No commit takes effect meanwhile: f must be
// short and must not call back into the journal.
func (j *Journal) Read(f func(orch.View)) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	f(j.mem)
}

// Owed are the effects whose result has not been committed yet, in the order of their ids.
func (j *Journal) Owed() []Effect {
	list := make([]Effect, 0, len(j.owed))
	for _, e := range j.owed {
		list = append(list, e)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].ID < list[b].ID })
	return list
}

// History returns the events after a sequence number, oldest first, at most limit of them (0 = all).
func (j *Journal) History(since uint64, limit int) ([]orch.Event, error) {
	var list []orch.Event
	err := j.look(func(tx *bbolt.Tx) error {
		c := tx.Bucket(historyBucket).Cursor()
		for key, sealed := c.Seek(number(since + 1)); key != nil; key, sealed = c.Next() {
			var e orch.Event
			if err := getJSON(key, sealed, &e); err != nil {
				return err
			}
			list = append(list, e)
			if len(list) == limit {
				return nil
			}
		}
		return nil
	})
	return list, err
}

// HistoryBefore returns the newest events before a sequence number, oldest first, at most limit of them.
func (j *Journal) HistoryBefore(seq uint64, limit int) ([]orch.Event, error) {
	var list []orch.Event
	err := j.look(func(tx *bbolt.Tx) error {
		c := tx.Bucket(historyBucket).Cursor()
		newest := c.Prev
		if key, _ := c.Seek(number(seq)); key == nil {
			newest = c.Last
		}
		key, sealed := newest()
		for ; key != nil && len(list) < limit; key, sealed = c.Prev() {
			var e orch.Event
			if err := getJSON(key, sealed, &e); err != nil {
				return err
			}
			list = append(list, e)
		}
		return nil
	})
	slices.Reverse(list)
	return list, err
}

// Newest is the sequence number of the newest event, 0 before the first.
func (j *Journal) Newest() (seq uint64, err error) {
	err = j.look(func(tx *bbolt.Tx) error {
		seq = tx.Bucket(historyBucket).Sequence()
		return nil
	})
	return seq, err
}

// look runs a read transaction; a panic within bbolt is an error.
func (j *Journal) look(f func(*bbolt.Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return j.db.View(f)
}

// Close writes what is still to be written of the run.json files and lets go of the store.
func (j *Journal) Close() error {
	return errors.Join(j.writer.close(), j.copied.close(), j.db.Close())
}

// Hash is the fingerprint of an order: its name and what it says.
func Hash(name string, content []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s ", len(name), name)
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// HashOf is the fingerprint of an input as it stands.
func HashOf(in orch.Input) (string, error) {
	raw, err := json.Marshal(in.What)
	if err != nil {
		return "", err
	}
	return Hash(in.What.Type(), raw), nil
}

// storeError names what the system said.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, berrors.ErrInvalidMapping):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Open opens the store of a home folder, makes it where there is none, and reads it whole. A damaged store
// is set aside and replaced, see recover.go; Said then tells what was done.
func Open(dir string, options Options) (*Journal, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Wait == 0 {
		options.Wait = 2 * time.Second
	}
	if options.Log == nil {
		options.Log = func(string) {}
	}
	if options.Order == nil {
		options.Order = orch.DecodeOrder
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, storeError(err)
	}
	j := &Journal{dir: dir, options: options}
	if err := j.openOrRecover(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, File), err)
	}
	return j, nil
}

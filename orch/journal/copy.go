package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"st/orch/failpoint"
)

// copyFile is the name of the verified copy.
const copyFile = File + ".copy"

// CopyPath is where the verified copy of a home's store lies; it need not be there.
func CopyPath(dir string) string { return filepath.Join(dir, copyFile) }

// copyEvery is how old the copy may get while the store changes.
const copyEvery = time.Hour

// copier is what is known of the newest copy.
type copier struct {
	mu sync.Mutex
	tx atomic.Int64 // transaction it holds
	at time.Time    // when it was made
}

// begin is the end of Open: what follows from an open store.
func (j *Journal) begin() error {
	if err := j.look(func(tx *bbolt.Tx) error { j.tx.Store(int64(tx.ID())); return nil }); err != nil {
		return errors.Join(err, j.db.Close())
	}
	j.writer = newWriter(j)
	j.writer.refresh()
	return nil
}

// Copy makes a verified copy of the store where the last one is an hour old and the store has changed
// since, or where there is none of this process yet. It returns when to call again; zero where nothing has
// changed and only a commit makes a call worthwhile. It reads while commits go on; only a commit that has
// to map more of the file waits for it.
func (j *Journal) Copy(now time.Time) (next time.Time, err error) {
	j.copied.mu.Lock()
	defer j.copied.mu.Unlock()
	newest := j.tx.Load()
	if j.copied.tx.Load() == newest {
		return time.Time{}, nil
	}
	if due := j.copied.at.Add(copyEvery); !j.copied.at.IsZero() && now.Before(due) {
		return due, nil
	}
	tx, err := j.copy()
	j.copied.at = now
	if err != nil {
		return now.Add(copyEvery), fmt.Errorf("copy of the store: %w", err)
	}
	j.copied.tx.Store(tx)
	if j.tx.Load() != tx {
		return now.Add(copyEvery), nil
	}
	return time.Time{}, nil
}

// Uncopied reports whether the store has changed since its newest copy.
func (j *Journal) Uncopied() bool { return j.tx.Load() != j.copied.tx.Load() }

// copy returns the transaction that the copy holds. The old copy stays until the new one is verified.
func (j *Journal) copy() (int64, error) {
	tmp := filepath.Join(j.dir, copyFile+".tmp")
	var id int64
	err := j.look(func(tx *bbolt.Tx) error {
		id = int64(tx.ID())
		return tx.CopyFile(tmp, 0o600)
	})
	if err != nil {
		return 0, err
	}
	if err := syncFile(tmp); err != nil {
		return 0, err
	}
	if err := verify(tmp, j.options.Wait); err != nil {
		return 0, err
	}
	failpoint.At("journal.copy.before")
	if err := os.Rename(tmp, CopyPath(j.dir)); err != nil {
		return 0, err
	}
	failpoint.At("journal.copy.after")
	return id, syncDir(j.dir)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// verify opens a store for reading and checks all of it: the tree and every value's checksum.
func verify(path string, wait time.Duration) error {
	if err := sound(path, wait); err != nil {
		return err
	}
	return guarded(func() error {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: wait, ReadOnly: true})
		if err != nil {
			return storeError(err)
		}
		err = check(db)
		if err == nil {
			err = db.View(checkValues)
		}
		return errors.Join(err, db.Close())
	})
}

func checkValues(tx *bbolt.Tx) error {
	if sealed := tx.Bucket(metaBucket).Get(timeKey); sealed != nil {
		if _, err := unseal(timeKey, sealed); err != nil {
			return err
		}
	}
	schema, err := schemaOf(tx)
	if err != nil {
		return err
	}
	for _, name := range buckets {
		b := tx.Bucket(name)
		if b == nil && schema < len(migrations) {
			continue // the copy is older than the bucket
		}
		if b == nil {
			return fmt.Errorf("%w: the bucket %q is missing", ErrCorrupt, name)
		}
		if bytes.Equal(name, metaBucket) {
			continue // its values bear no checksum
		}
		err := b.ForEach(func(key, sealed []byte) error {
			_, err := unseal(key, sealed)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// close waits for a copy that is being made.
func (c *copier) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return nil
}

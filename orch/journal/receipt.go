package journal

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
)

// How long a request id is remembered.
const (
	receiptAge   = 7 * 24 * time.Hour
	receiptCount = 20_000
)

// Receipt is what came of a request, so that it can be asked again without happening twice. A hook call
// and a spool file are requests too: their uuid is the id.
type Receipt struct {
	Request string          `json:"request"`
	Hash    string          `json:"hash"` // fingerprint of what was asked
	At      time.Time       `json:"at"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Err     *orch.Error     `json:"error,omitempty"` // the refusal; then there is no answer
}

func newReceipt(request, hash string, at time.Time, c orch.Changes) (Receipt, error) {
	r := Receipt{Request: request, Hash: hash, At: at, Err: c.Err}
	if c.Err == nil && c.Answer != nil {
		raw, err := json.Marshal(c.Answer)
		if err != nil {
			return r, fmt.Errorf("answer: %w", err)
		}
		r.Answer = raw
	}
	if _, err := json.Marshal(r); err != nil {
		return r, fmt.Errorf("receipt: %w", err)
	}
	return r, nil
}

// Receipt returns what came of a request. It may be called from any goroutine.
func (j *Journal) Receipt(request string) (r Receipt, ok bool, err error) {
	err = j.look(func(tx *bbolt.Tx) error {
		key := receiptKey(request)
		sealed := tx.Bucket(receiptBucket).Get(key)
		if sealed == nil {
			return nil
		}
		ok = true
		return getJSON(key, sealed, &r)
	})
	return r, ok, err
}

// receiptKey keeps a request id that somebody made up within what bbolt takes for a key.
func receiptKey(request string) []byte {
	if len(request) <= 200 {
		return []byte("=" + request)
	}
	return []byte("#" + Hash("request", []byte(request)))
}

func (j *Journal) fillReceipts(tx *bbolt.Tx, b *Batch) error {
	if len(b.receipts) == 0 {
		return nil
	}
	byID, byTime := tx.Bucket(receiptBucket), tx.Bucket(receiptsByTime)
	for _, r := range b.receipts {
		n, err := byTime.NextSequence()
		if err != nil {
			return err
		}
		key := receiptKey(r.Request)
		if err := putJSON(byID, key, r); err != nil {
			return err
		}
		stamp := append(number(uint64(r.At.UnixNano())), key...)
		if err := byTime.Put(number(n), seal(number(n), stamp)); err != nil {
			return err
		}
	}
	return forget(byID, byTime, b.now)
}

// forget drops receipts that are too old or too many.
func forget(byID, byTime *bbolt.Bucket, now time.Time) error {
	last := byTime.Sequence()
	oldest := now.Add(-receiptAge).UnixNano()
	c := byTime.Cursor()
	for key, sealed := c.First(); key != nil; key, sealed = c.First() {
		n, err := numberOf(key)
		if err != nil {
			return err
		}
		stamp, err := unseal(key, sealed)
		if err != nil {
			return err
		}
		if len(stamp) < 8 {
			return fmt.Errorf("%w: receipt %d is cut", ErrCorrupt, n)
		}
		if n+receiptCount > last && int64(binary.BigEndian.Uint64(stamp)) >= oldest {
			return nil
		}
		if err := byID.Delete(stamp[8:]); err != nil {
			return err
		}
		if err := byTime.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

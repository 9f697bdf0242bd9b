package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
)

// How long the id of an order is remembered: RequestAge, and of those the newest RequestCount. Facts, such as hook
// calls, are counted apart: they come by the thousand, and nobody asks for them again after minutes.
const (
	RequestAge   = 7 * 24 * time.Hour
	RequestCount = 20_000
)

// Receipt is what came of a request, so that it can be asked again without happening twice. A hook call
// and a spool file are requests too: their uuid is the id.
type Receipt struct {
	Request string    `json:"request"`
	Hash    string    `json:"hash"` // fingerprint of what was asked; "" where it isn't known: anything is the same then
	At      time.Time `json:"at"`
	// Input is the name of what was asked, and By who asked for an order, see orch.Asker. Both are "" in what schema
	// 1 left: all its ids were fresh uuids.
	Input  string          `json:"input,omitempty"`
	By     string          `json:"by,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// newReceipt is the receipt of an input, but for who asked.
func newReceipt(in orch.Input, hash string, at time.Time, c orch.Changes) (Receipt, error) {
	r := Receipt{Request: in.Request, Hash: hash, At: at}
	if in.What != nil {
		r.Input = in.What.Type()
	}
	if in.Request == "" || c.Answer == nil {
		return r, nil
	}
	raw, err := json.Marshal(c.Answer)
	if err != nil {
		return r, fmt.Errorf("answer: %w", err)
	}
	r.Answer = raw
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
	byID := tx.Bucket(receiptBucket)
	filled := map[*bbolt.Bucket]bool{}
	facts, asked := tx.Bucket(receiptsByTime), tx.Bucket(requestsByTime)
	for _, r := range b.receipts {
		byTime := facts
		if orch.IsOrder(r.Input) {
			byTime = asked
		}
		filled[byTime] = true
		if err := putReceipt(byID, byTime, r); err != nil {
			return err
		}
	}
	for _, r := range b.completed {
		if err := complete(byID, r); err != nil {
			return err
		}
	}
	for byTime := range filled {
		if err := forget(byID, byTime, b.now); err != nil {
			return err
		}
	}
	return nil
}

func putReceipt(byID, byTime *bbolt.Bucket, r Receipt) error {
	n, err := byTime.NextSequence()
	if err != nil {
		return err
	}
	key := receiptKey(r.Request)
	if err := putJSON(byID, key, r); err != nil {
		return err
	}
	stamp := append(number(uint64(r.At.UnixNano())), key...)
	return byTime.Put(number(n), seal(number(n), stamp))
}

// complete gives a request that is kept the answer that it came to, or forgets it.
func complete(byID *bbolt.Bucket, came Receipt) error {
	key := receiptKey(came.Request)
	sealed := byID.Get(key)
	switch {
	case sealed == nil:
		return nil
	case came.Answer == nil:
		return byID.Delete(key)
	}
	var r Receipt
	if err := getJSON(key, sealed, &r); err != nil {
		return err
	}
	r.Answer = came.Answer
	return putJSON(byID, key, r)
}

// forget drops receipts that are too old or too many.
func forget(byID, byTime *bbolt.Bucket, now time.Time) error {
	last := byTime.Sequence()
	oldest := now.Add(-RequestAge).UnixNano()
	c := byTime.Cursor()
	for slot, sealed := c.First(); slot != nil; slot, sealed = c.First() {
		n, err := numberOf(slot)
		if err != nil {
			return err
		}
		at, key, err := stampOf(slot, sealed)
		if err != nil {
			return err
		}
		if n+RequestCount > last && at >= oldest {
			return nil
		}
		if err := byID.Delete(key); err != nil {
			return err
		}
		if err := byTime.Delete(slot); err != nil {
			return err
		}
	}
	return nil
}

// stampOf reads when the receipt of a key was written, in nanoseconds since 1970.
func stampOf(slot, sealed []byte) (at int64, key []byte, err error) {
	stamp, err := unseal(slot, sealed)
	if err != nil {
		return 0, nil, err
	}
	if len(stamp) < 8 {
		return 0, nil, fmt.Errorf("%w: receipt %d is cut", ErrCorrupt, binary.BigEndian.Uint64(slot))
	}
	return int64(binary.BigEndian.Uint64(stamp)), stamp[8:], nil
}

// forgetRefusals drops what schema 1 kept of requests that were refused.
func forgetRefusals(byID, byTime *bbolt.Bucket) error {
	var slots, keys [][]byte // a bucket may not change under its cursor
	err := byTime.ForEach(func(slot, sealed []byte) error {
		_, key, err := stampOf(slot, sealed)
		if err != nil {
			return err
		}
		var r struct {
			Error json.RawMessage `json:"error"`
		}
		if kept := byID.Get(key); kept != nil {
			err = getJSON(key, kept, &r)
		}
		if r.Error != nil {
			slots, keys = append(slots, bytes.Clone(slot)), append(keys, bytes.Clone(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := errors.Join(byID.Delete(key), byTime.Delete(slots[i])); err != nil {
			return err
		}
	}
	return nil
}

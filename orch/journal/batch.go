package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"st/orch"
	"st/orch/failpoint"
)

// Batch collects what a number of inputs do, until Commit makes it true all at once. It belongs to the
// goroutine that owns the journal; there is never more than one.
type Batch struct {
	over       *overlay
	now        time.Time
	events     []orch.Event
	nextEvent  uint64
	nextEffect uint64
	owed       map[uint64]Effect // as committed
	effects    map[uint64]Effect // new or changed, as they will stand
	fresh      []orch.Effect
	settled    map[uint64]bool
	receipts   []Receipt
	answered   map[string]int // request → index of its receipt
	completed  []Receipt      // what came of requests that were taken before; only Request and Answer count
}

// Begin starts a batch.
func (j *Journal) Begin() *Batch {
	return &Batch{
		over: newOverlay(j.mem, j.nextOrder), now: j.options.Now(),
		nextEvent: j.nextEvent, nextEffect: j.nextEffect,
		owed: j.owed, effects: map[uint64]Effect{}, settled: map[uint64]bool{}, answered: map[string]int{},
	}
}

// View is the state as the batch would leave it.
func (b *Batch) View() orch.View { return b.over }

// Effects are the new effects with the ids they will have.
func (b *Batch) Effects() []orch.Effect { return b.fresh }

// Receipt returns the receipt that the batch holds for a request.
func (b *Batch) Receipt(request string) (Receipt, bool) {
	at, ok := b.answered[request]
	if !ok {
		return Receipt{}, false
	}
	return b.receipts[at], true
}

// Add takes up what one input did. hash is the fingerprint of what was asked, kept with the receipt; an
// input without a request id gets no receipt, and neither does one that was refused: it has changed nothing, and
// what it asked for may be asked for again. On an error nothing of this input is in the batch.
//
// Changes that are for memory only leave no receipt. Where they come with effects or events, or are an
// effect's result, they are made durable like all others.
func (b *Batch) Add(in orch.Input, hash string, c orch.Changes, effects []orch.Effect) error {
	memory := c.Memory && len(effects) == 0 && len(c.Events) == 0 && in.Effect == 0
	if in.At.After(b.now) {
		b.now = in.At
	}
	raws, err := marshalAll(c.Puts, memory)
	if err != nil {
		return err
	}
	receipt, err := newReceipt(in, hash, b.now, c)
	if err != nil {
		return err
	}
	if in.Effect != 0 {
		b.settle(in.Effect)
	}
	if c.Err != nil {
		return nil
	}
	b.change(c, raws, memory)
	if in.Request != "" && !memory {
		b.receive(in, receipt)
	}
	for _, e := range effects {
		e.ID = b.nextEffect
		b.nextEffect++
		b.effects[e.ID] = Effect{Effect: e}
		b.fresh = append(b.fresh, e)
	}
	return nil
}

// receive takes up the receipt of an input whose changes are in the batch.
func (b *Batch) receive(in orch.Input, r Receipt) {
	if in.Completes {
		b.completed = append(b.completed, r)
		return
	}
	if orch.IsOrder(r.Input) {
		r.By = orch.Asker(b.over, in.By) // by now one that was never seen before has an id
	}
	b.recall(r)
}

// recall takes up a receipt without an input: of a request that was taken before the store was lost.
func (b *Batch) recall(r Receipt) {
	b.answered[r.Request] = len(b.receipts)
	b.receipts = append(b.receipts, r)
}

func marshalAll(puts []orch.Entity, memory bool) ([][]byte, error) {
	raws := make([][]byte, len(puts))
	if memory {
		return raws, nil
	}
	for i, e := range puts {
		raw, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Key(), err)
		}
		raws[i] = raw
	}
	return raws, nil
}

func (b *Batch) change(c orch.Changes, raws [][]byte, memory bool) {
	for i, e := range c.Puts {
		ch := b.over.put(e.Key(), e)
		if memory && ch.durable {
			continue // raw stays what the last durable put said
		}
		ch.raw, ch.durable = raws[i], !memory
	}
	for _, key := range c.Dels {
		ch := b.over.put(key, nil)
		ch.raw = nil
		ch.durable = ch.durable || !memory
	}
	for _, e := range c.Events {
		e.Seq = b.nextEvent
		b.nextEvent++
		b.events = append(b.events, e)
	}
}

func (b *Batch) settle(id uint64) {
	delete(b.effects, id)
	b.settled[id] = true
}

// Owes reports whether an effect is owed, as the batch would leave it.
func (b *Batch) Owes(id uint64) bool {
	_, ok := b.effect(id)
	return ok
}

func (b *Batch) effect(id uint64) (Effect, bool) {
	if b.settled[id] {
		return Effect{}, false
	}
	if e, ok := b.effects[id]; ok {
		return e, true
	}
	e, ok := b.owed[id]
	return e, ok
}

// Start marks an effect as started; false where it isn't owed.
func (b *Batch) Start(id uint64) bool {
	e, ok := b.effect(id)
	if ok {
		e.Started = true
		b.effects[id] = e
	}
	return ok
}

// Stage notes how far an effect has got; false where it isn't owed.
func (b *Batch) Stage(id uint64, stage string) bool {
	e, ok := b.effect(id)
	if ok {
		e.Started, e.Stage = true, stage
		b.effects[id] = e
	}
	return ok
}

// Changed reports whether the batch does anything to the state.
func (b *Batch) Changed() bool { return len(b.over.list)+len(b.events) > 0 }

func (b *Batch) durable() bool {
	if len(b.events)+len(b.effects)+len(b.settled)+len(b.receipts)+len(b.completed) > 0 {
		return true
	}
	for _, c := range b.over.list {
		if c.durable {
			return true
		}
	}
	return false
}

// Commit makes a batch true: first on disk, in one synced transaction, then in memory. A batch that is for
// memory only, or that changes nothing, writes nothing. On an error memory is as it was and the batch is
// lost.
func (j *Journal) Commit(b *Batch) error {
	if b.durable() {
		err := j.write(b)
		j.mu.Lock()
		j.trouble = err
		j.mu.Unlock()
		if err != nil {
			return err
		}
	}
	j.mu.Lock()
	b.over.apply()
	j.mu.Unlock()
	j.nextOrder, j.nextEvent, j.nextEffect = b.over.next, b.nextEvent, b.nextEffect
	for id, e := range b.effects {
		j.owed[id] = e
	}
	for id := range b.settled {
		delete(j.owed, id)
	}
	j.writer.touch(runsOf(b))
	return nil
}

// write is the transaction of a batch.
func (j *Journal) write(b *Batch) (err error) {
	if j.broken != nil {
		return j.broken
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
			j.broken = err
		}
	}()
	id := 0
	failpoint.At("journal.commit.before")
	err = j.db.Update(func(tx *bbolt.Tx) error {
		id = tx.ID()
		if err := failpoint.Fail("journal.commit.full"); err != nil {
			return err
		}
		return j.fill(tx, b)
	})
	failpoint.At("journal.commit.after")
	if errors.Is(err, errNothing) {
		return nil
	}
	if err != nil {
		err = storeError(err)
		if j.landed(id) {
			j.broken = fmt.Errorf("the store must be opened anew, a write ended in doubt: %w", err)
		}
		return err
	}
	j.tx.Store(int64(id))
	return nil
}

// landed reports whether a transaction that returned an error is to be seen all the same: bbolt writes
// the new root before it syncs it, and when only that sync fails the next transaction would build on it.
func (j *Journal) landed(id int) bool {
	now := 0
	if err := j.db.View(func(tx *bbolt.Tx) error { now = tx.ID(); return nil }); err != nil {
		return true
	}
	return now >= id
}

func (j *Journal) fill(tx *bbolt.Tx, b *Batch) error {
	wrote, err := fillEntities(tx.Bucket(entityBucket), b.over.list)
	if err != nil {
		return err
	}
	if !wrote && len(b.events)+len(b.effects)+len(b.settled)+len(b.receipts)+len(b.completed) == 0 {
		return errNothing
	}
	at := b.now
	if j.written.After(at) {
		at = j.written
	}
	if err := putJSON(tx.Bucket(metaBucket), timeKey, at); err != nil {
		return err
	}
	if err := fillHistory(tx.Bucket(historyBucket), b); err != nil {
		return err
	}
	if err := fillEffects(tx.Bucket(effectBucket), b); err != nil {
		return err
	}
	return j.fillReceipts(tx, b)
}

func fillEntities(bucket *bbolt.Bucket, list []*change) (wrote bool, err error) {
	for _, c := range list {
		if !c.durable {
			continue
		}
		key := []byte(c.key)
		old := bucket.Get(key)
		if c.raw == nil {
			if old != nil {
				wrote = true
				err = bucket.Delete(key)
			}
		} else if value := entityValue(key, c.order, c.raw); !bytes.Equal(old, value) {
			wrote = true
			err = bucket.Put(key, value)
		}
		if err != nil {
			return wrote, fmt.Errorf("%s: %w", c.key, err)
		}
	}
	return wrote, nil
}

func fillHistory(bucket *bbolt.Bucket, b *Batch) error {
	if len(b.events) == 0 {
		return nil
	}
	for _, e := range b.events {
		if err := putJSON(bucket, number(e.Seq), e); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	return bucket.SetSequence(b.nextEvent - 1)
}

func fillEffects(bucket *bbolt.Bucket, b *Batch) error {
	for id, e := range b.effects {
		order, err := json.Marshal(e.Do)
		if err != nil {
			return fmt.Errorf("effect %d: %w", id, err)
		}
		r := effectRecord{Name: e.Do.Type(), Order: order, Status: owed, Stage: e.Stage}
		if e.Started {
			r.Status = started
		}
		if err := putJSON(bucket, number(id), r); err != nil {
			return fmt.Errorf("effect %d: %w", id, err)
		}
	}
	for id := range b.settled {
		if err := bucket.Delete(number(id)); err != nil {
			return fmt.Errorf("effect %d: %w", id, err)
		}
	}
	if bucket.Sequence() == b.nextEffect-1 {
		return nil
	}
	return bucket.SetSequence(b.nextEffect - 1)
}

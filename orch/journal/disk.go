package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync"

	"go.etcd.io/bbolt"

	"st/orch"
)

// The buckets, one an idea. Numbers in keys are big-endian, so that keys sort by them.
var (
	metaBucket     = []byte("meta")          // "schema" → number in decimal; "time" → of the newest commit, JSON
	entityBucket   = []byte("entities")      // key → order, JSON
	historyBucket  = []byte("history")       // seq → JSON of orch.Event
	effectBucket   = []byte("effects")       // id → JSON of effectRecord
	receiptBucket  = []byte("receipts")      // request → JSON of Receipt
	receiptsByTime = []byte("receipts-time") // number → time, request: of facts
	requestsByTime = []byte("requests-time") // the same, of orders
	schemaKey      = []byte("schema")
	timeKey        = []byte("time")
)

// migrations lead from each schema to the next: number 0 makes a new store's buckets. A migration that is
// out in the world is never changed; what is new is appended.
var migrations = []func(*bbolt.Tx) error{
	func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{metaBucket, entityBucket, historyBucket, effectBucket, receiptBucket, receiptsByTime} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	},
	func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(requestsByTime); err != nil {
			return err
		}
		return forgetRefusals(tx.Bucket(receiptBucket), tx.Bucket(receiptsByTime))
	},
}

// buckets are those of our schema.
var buckets = [][]byte{metaBucket, entityBucket, historyBucket, effectBucket, receiptBucket, receiptsByTime, requestsByTime}

// schemaOf is the schema of the store, 0 for an empty one.
func schemaOf(tx *bbolt.Tx) (int, error) {
	b := tx.Bucket(metaBucket)
	if b == nil {
		return 0, nil
	}
	n, err := strconv.Atoi(string(b.Get(schemaKey)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: schema is %q", ErrCorrupt, b.Get(schemaKey))
	}
	return n, nil
}

// migrate brings the store to our schema in one transaction.
func migrate(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		have, err := schemaOf(tx)
		if err != nil {
			return err
		}
		if have > len(migrations) {
			return fmt.Errorf("%w: the store has schema %d, this program knows %d", ErrNewer, have, len(migrations))
		}
		if have == len(migrations) {
			return errNothing
		}
		for _, step := range migrations[have:] {
			if err := step(tx); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(schemaKey, []byte(strconv.Itoa(len(migrations))))
	})
}

// errNothing ends a transaction that turned out to have nothing to write: rolled back, not synced.
var errNothing = errors.New("nothing to write")

func unlessNothing(err error) error {
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// castagnoli is made at its first use: it is 8 KB, and hooks and verbs that open no store carry this package too.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// seal puts a checksum over key and payload before the payload. bbolt checks its tree, not what hangs on
// it: without this a flipped bit within a text would be believed.
func seal(key, payload []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli()), castagnoli(), payload)
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(payload)), sum), payload...)
}

func unseal(key, sealed []byte) ([]byte, error) {
	if len(sealed) < 4 {
		return nil, fmt.Errorf("%w: the value of %q is cut", ErrCorrupt, key)
	}
	payload := sealed[4:]
	sum := crc32.Update(crc32.Checksum(key, castagnoli()), castagnoli(), payload)
	if binary.BigEndian.Uint32(sealed) != sum {
		return nil, fmt.Errorf("%w: the value of %q has a wrong checksum", ErrCorrupt, key)
	}
	return payload, nil
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func numberOf(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("%w: the key %q is no number", ErrCorrupt, key)
	}
	return binary.BigEndian.Uint64(key), nil
}

// entityValue is how an entity stands on disk: order, then JSON.
func entityValue(key []byte, order uint64, raw []byte) []byte {
	return seal(key, append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(raw)), order), raw...))
}

// effectRecord is how an owed effect stands on disk.
type effectRecord struct {
	Name   string          `json:"name"`
	Order  json.RawMessage `json:"order"`
	Status string          `json:"status"` // owed, started
	Stage  string          `json:"stage,omitempty"`
}

const (
	owed    = "owed"
	started = "started"
)

func putJSON(b *bbolt.Bucket, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, seal(key, raw))
}

func getJSON(key, sealed []byte, v any) error {
	raw, err := unseal(key, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: the value of %q: %w", ErrCorrupt, key, err)
	}
	return nil
}

// load reads everything that is kept in memory.
func (j *Journal) load() error {
	return j.db.View(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if tx.Bucket(name) == nil {
				return fmt.Errorf("%w: the bucket %q is missing", ErrCorrupt, name)
			}
		}
		if err := j.loadTime(tx); err != nil {
			return err
		}
		j.nextEvent = tx.Bucket(historyBucket).Sequence() + 1
		j.nextEffect = tx.Bucket(effectBucket).Sequence() + 1
		if err := j.loadEntities(tx); err != nil {
			return err
		}
		return j.loadEffects(tx)
	})
}

// loadTime reads when the newest commit was made; a store of an older program does not say.
func (j *Journal) loadTime(tx *bbolt.Tx) error {
	sealed := tx.Bucket(metaBucket).Get(timeKey)
	if sealed == nil {
		return nil
	}
	return getJSON(timeKey, sealed, &j.written)
}

func (j *Journal) loadEntities(tx *bbolt.Tx) error {
	j.mem, j.nextOrder = newMemory(), 1
	return tx.Bucket(entityBucket).ForEach(func(key, sealed []byte) error {
		value, err := unseal(key, sealed)
		if err != nil {
			return err
		}
		if len(value) < 8 {
			return fmt.Errorf("%w: the value of %q is cut", ErrCorrupt, key)
		}
		e, err := orch.DecodeEntity(string(key), value[8:])
		if err != nil {
			return fmt.Errorf("%w: %q: %w", ErrNewer, key, err)
		}
		r := &record{key: string(key), order: binary.BigEndian.Uint64(value), e: e}
		j.mem.put(r)
		j.nextOrder = max(j.nextOrder, r.order+1)
		return nil
	})
}

func (j *Journal) loadEffects(tx *bbolt.Tx) error {
	j.owed = map[uint64]Effect{}
	return tx.Bucket(effectBucket).ForEach(func(key, sealed []byte) error {
		id, err := numberOf(key)
		if err != nil {
			return err
		}
		var r effectRecord
		if err := getJSON(key, sealed, &r); err != nil {
			return err
		}
		do, err := j.options.Order(r.Name, r.Order)
		if err != nil {
			return fmt.Errorf("%w: effect %d: %w", ErrNewer, id, err)
		}
		j.owed[id] = Effect{Effect: orch.Effect{ID: id, Do: do}, Started: r.Status == started, Stage: r.Stage}
		return nil
	})
}

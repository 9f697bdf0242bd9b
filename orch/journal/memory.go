package journal

import (
	"sort"
	"strings"

	"st/orch"
)

// record is one entity as it stands in memory. A record is never changed, only replaced.
type record struct {
	key   string
	order uint64 // when the key was first put, counted over all keys; kept beside the entity on disk
	e     orch.Entity
}

// memory is the committed state.
type memory struct {
	records map[string]*record
	nouns   map[string][]*record // sorted by order
}

func newMemory() *memory {
	return &memory{records: map[string]*record{}, nouns: map[string][]*record{}}
}

// Entity returns the entity of that key, or nil.
func (m *memory) Entity(key string) orch.Entity {
	if r := m.records[key]; r != nil {
		return r.e
	}
	return nil
}

// Each calls f for every entity of the noun in the order of their first put.
func (m *memory) Each(noun string, f func(orch.Entity) bool) {
	for _, r := range m.nouns[noun] {
		if !f(r.e) {
			return
		}
	}
}

func (m *memory) put(r *record) {
	noun := nounOf(r.key)
	list := m.nouns[noun]
	at := place(list, r.order)
	if m.records[r.key] != nil {
		list[at] = r
	} else {
		list = append(list, nil)
		copy(list[at+1:], list[at:])
		list[at] = r
	}
	m.nouns[noun] = list
	m.records[r.key] = r
}

func (m *memory) del(key string) {
	r := m.records[key]
	if r == nil {
		return
	}
	noun := nounOf(key)
	list := m.nouns[noun]
	at := place(list, r.order)
	m.nouns[noun] = append(list[:at], list[at+1:]...)
	delete(m.records, key)
}

// place is the index at which an order stands or would stand.
func place(list []*record, order uint64) int {
	if n := len(list); n == 0 || list[n-1].order < order {
		return n
	}
	return sort.Search(len(list), func(i int) bool { return list[i].order >= order })
}

func nounOf(key string) string {
	noun, _, _ := strings.Cut(key, "/")
	return noun
}

// change is what a batch does to one key.
type change struct {
	key     string
	order   uint64
	e       orch.Entity // nil once deleted
	raw     []byte      // its JSON, where durable
	durable bool
}

// overlay is the state as a batch would leave it.
type overlay struct {
	base    *memory
	changes map[string]*change
	list    []*change            // in the order of first touch
	fresh   map[string][]*change // by noun: keys that memory doesn't have
	next    uint64               // order of the next key
}

func newOverlay(base *memory, next uint64) *overlay {
	return &overlay{base: base, changes: map[string]*change{}, fresh: map[string][]*change{}, next: next}
}

// Entity returns the entity of that key, or nil.
func (o *overlay) Entity(key string) orch.Entity {
	if c := o.changes[key]; c != nil {
		return c.e
	}
	return o.base.Entity(key)
}

// Each calls f for every entity of the noun in the order of their first put.
func (o *overlay) Each(noun string, f func(orch.Entity) bool) {
	for _, r := range o.base.nouns[noun] {
		e := r.e
		if c := o.changes[r.key]; c != nil {
			e = c.e
		}
		if e != nil && !f(e) {
			return
		}
	}
	for _, c := range o.fresh[noun] {
		if c.e != nil && !f(c.e) {
			return
		}
	}
}

// touch returns the change of a key, a new one where there is none yet.
func (o *overlay) touch(key string) *change {
	if c := o.changes[key]; c != nil {
		return c
	}
	c := &change{key: key}
	if r := o.base.records[key]; r != nil {
		c.order, c.e = r.order, r.e
	} else {
		c.order = o.next
		o.next++
		o.fresh[nounOf(key)] = append(o.fresh[nounOf(key)], c)
	}
	o.changes[key] = c
	o.list = append(o.list, c)
	return c
}

// apply makes the overlay's changes memory's own.
func (o *overlay) apply() {
	for _, c := range o.list {
		if c.e == nil {
			o.base.del(c.key)
		} else {
			o.base.put(&record{key: c.key, order: c.order, e: c.e})
		}
	}
}

package journal

import (
	"cmp"
	"slices"
	"sort"

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
	shelves map[string][]*record // sorted by order; see orch.Shelves
}

func newMemory() *memory {
	return &memory{records: map[string]*record{}, shelves: map[string][]*record{}}
}

// Entity returns the entity of that key, or nil.
func (m *memory) Entity(key string) orch.Entity {
	if r := m.records[key]; r != nil {
		return r.e
	}
	return nil
}

// Each calls f for every entity on the shelf in the order of their first put.
func (m *memory) Each(shelf string, f func(orch.Entity) bool) {
	for _, r := range m.shelves[shelf] {
		if !f(r.e) {
			return
		}
	}
}

func (m *memory) put(r *record) {
	on := orch.Shelves(r.e)
	if old := m.records[r.key]; old != nil {
		for _, shelf := range orch.Shelves(old.e) {
			if !slices.Contains(on, shelf) {
				m.take(shelf, old.order)
			}
		}
	}
	for _, shelf := range on {
		list := m.shelves[shelf]
		at := place(list, r.order)
		if at < len(list) && list[at].order == r.order {
			list[at] = r
		} else {
			m.shelves[shelf] = slices.Insert(list, at, r)
		}
	}
	m.records[r.key] = r
}

func (m *memory) del(key string) {
	r := m.records[key]
	if r == nil {
		return
	}
	for _, shelf := range orch.Shelves(r.e) {
		m.take(shelf, r.order)
	}
	delete(m.records, key)
}

// take takes what has an order from a shelf.
func (m *memory) take(shelf string, order uint64) {
	list := m.shelves[shelf]
	at := place(list, order)
	if list = slices.Delete(list, at, at+1); len(list) == 0 {
		delete(m.shelves, shelf)
		return
	}
	m.shelves[shelf] = list
}

// place is the index at which an order stands or would stand.
func place(list []*record, order uint64) int {
	if n := len(list); n == 0 || list[n-1].order < order {
		return n
	}
	return sort.Search(len(list), func(i int) bool { return list[i].order >= order })
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
	joined  map[string][]*change // by shelf, sorted by order: those that memory doesn't have there
	next    uint64               // order of the next key
}

func newOverlay(base *memory, next uint64) *overlay {
	return &overlay{base: base, changes: map[string]*change{}, joined: map[string][]*change{}, next: next}
}

// Entity returns the entity of that key, or nil.
func (o *overlay) Entity(key string) orch.Entity {
	if c := o.changes[key]; c != nil {
		return c.e
	}
	return o.base.Entity(key)
}

// Each calls f for every entity on the shelf in the order of their first put.
func (o *overlay) Each(shelf string, f func(orch.Entity) bool) {
	joined := o.joined[shelf]
	tell := func(c *change) bool { return c.e == nil || !orch.OnShelf(c.e, shelf) || f(c.e) }
	for _, r := range o.base.shelves[shelf] {
		for len(joined) > 0 && joined[0].order < r.order {
			if !tell(joined[0]) {
				return
			}
			joined = joined[1:]
		}
		c := o.changes[r.key]
		if c != nil && !tell(c) || c == nil && !f(r.e) {
			return
		}
	}
	for _, c := range joined {
		if !tell(c) {
			return
		}
	}
}

// put gives a key another entity, nil to delete it, and returns its change.
func (o *overlay) put(key string, e orch.Entity) *change {
	c := o.touch(key)
	c.e = e
	if e == nil {
		return c
	}
	was := o.base.Entity(key)
	for _, shelf := range orch.Shelves(e) {
		if was != nil && orch.OnShelf(was, shelf) {
			continue
		}
		list := o.joined[shelf]
		at, there := slices.BinarySearchFunc(list, c.order, func(o *change, order uint64) int { return cmp.Compare(o.order, order) })
		if !there {
			o.joined[shelf] = slices.Insert(list, at, c)
		}
	}
	return c
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

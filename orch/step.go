package orch

import (
	"cmp"
	"fmt"
	"time"
)

// Fixed times of the mind. Those a caller can set are defaults here.
const (
	readyTimeout = 90 * time.Second       // from the opened window to a ready input line
	turnTimeout  = 30 * time.Second       // from Enter to the hook that proves the turn
	reportGrace  = 15 * time.Second       // a report counts as finished although its turn has not ended
	hookGrace    = 2 * time.Second        // a ready line whose program has not sent its first hook: type all the same
	dialogGrace  = 2 * time.Second        // a hook tells of a dialog before it stands on the screen, if it ever does
	oddTime      = time.Second            // the screen shows a turn, or none any more, and nothing else has told
	backTime     = 100 * time.Millisecond // the same, of a prompt that stands in the input line again
	unshownTime  = 10 * time.Second       // the same, of a turn that the screen has never shown
	watchTime    = 2 * time.Second        // after an interrupt a queued prompt may go on without a word
)

// Step says what one input changes and what has to be done. It is the only place where that is decided.
func Step(v View, in Input) (Changes, []Effect) {
	s := &step{View: v, in: in, at: in.At, puts: map[string]Entity{}}
	err := CheckAs(v, in.By)
	if _, hook := in.What.(Hook); hook && err != nil {
		return Changes{Memory: true}, nil // nobody's; a hook is told nothing
	}
	if err == nil {
		err = s.take()
	}
	if err != nil {
		return Changes{Err: err}, nil
	}
	s.settle()
	return s.changes(), s.effects
}

// step is one Step at work: the view with its own puts laid over it.
type step struct {
	View
	in      Input
	at      time.Time
	puts    map[string]Entity
	order   []string // keys of puts as they came; a nil entity is a deletion
	events  []Event
	effects []Effect
	answer  func() any // built after everything is settled
	memory  bool
}

// settle brings everything that is computed from facts up to date: deadlines, tasks, words to type, windows to open,
// states.
func (s *step) settle() {
	s.deadlines()
	s.tasks()
	s.states()
	for more := true; more; more = s.states() {
		s.typeWords()
		s.openWindows()
	}
}

func (s *step) changes() Changes {
	c := Changes{Events: s.events, Memory: s.memory && len(s.effects) == 0 && len(s.events) == 0}
	for _, k := range s.order {
		if e := s.puts[k]; e != nil {
			c.Puts = append(c.Puts, e)
		} else if s.View.Entity(k) != nil {
			c.Dels = append(c.Dels, k)
		}
	}
	if s.answer != nil {
		c.Answer = s.answer()
	}
	return c
}

// Entity returns the entity as this step has it.
func (s *step) Entity(key string) Entity {
	if e, ok := s.puts[key]; ok {
		return e
	}
	return s.View.Entity(key)
}

// Each goes over the entities as this step has them, last those that it has put on the shelf.
func (s *step) Each(shelf string, f func(Entity) bool) {
	more := true
	s.View.Each(shelf, func(e Entity) bool {
		if p, ok := s.puts[e.Key()]; ok {
			e = p
			if p != nil && !OnShelf(p, shelf) {
				e = nil
			}
		}
		if e != nil {
			more = f(e)
		}
		return more
	})
	for _, k := range s.order {
		e := s.puts[k]
		if !more || e == nil || !OnShelf(e, shelf) {
			continue
		}
		if was := s.View.Entity(k); was == nil || !OnShelf(was, shelf) {
			more = f(e)
		}
	}
}

func (s *step) put(e Entity) {
	if a, ok := e.(Agent); ok {
		e = a.computed(s.at)
	}
	s.set(e.Key(), e)
}

func (s *step) del(key string) { s.set(key, nil) }

func (s *step) set(k string, e Entity) {
	if _, ok := s.puts[k]; !ok {
		s.order = append(s.order, k)
	}
	s.puts[k] = e
}

// next hands out a fresh id: next("w") is "w1", "w2", ...
func (s *step) next(letter string) string {
	c, _ := get[Counters](s, "counters/")
	var n *int
	switch letter {
	case "r":
		n = &c.Run
	case "a":
		n = &c.Agent
	case "t":
		n = &c.Task
	case "w":
		n = &c.Worker
	case "d":
		n = &c.Dispatch
	case "m":
		n = &c.Message
	case "v":
		n = &c.Delivery
	case "g":
		n = &c.Gate
	default:
		letter, n = "o", &c.Word
	}
	*n++
	s.put(c)
	return fmt.Sprintf("%s%d", letter, *n)
}

func (s *step) do(o Order) { s.effects = append(s.effects, Effect{Do: o}) }

// log adds a line to the history; the ids that belong together are filled in from what is given.
func (s *step) log(kind string, e Event) {
	e.Type, e.At, e.Cause = kind, s.at, s.in.What.Type()
	e.By = cmp.Or(e.By, s.by())
	if d, ok := get[Dispatch](s, "dispatch/"+e.Dispatch); ok {
		e.Task, e.Worker = cmp.Or(e.Task, d.Task), cmp.Or(e.Worker, d.Worker)
	}
	if w, ok := workerOf(s, e.Agent); ok && e.Worker == "" && e.Agent != "" {
		e.Worker = w.ID
	}
	if e.Worker != "" && e.Run == "" {
		if w, ok := get[Worker](s, "worker/"+e.Worker); ok {
			e.Run = w.Run
		}
	}
	s.events = append(s.events, e)
}

// by is who brings an input, as the history calls it.
func (s *step) by() string {
	c := s.in.By
	if c.Path == "" && len(c.Chain) == 0 && c.Nonce == "" && c.Shared == "" {
		return Us
	}
	return cmp.Or(whoIs(s, c).name(), Us)
}

// get reads one entity of a known type.
func get[T Entity](v View, key string) (T, bool) {
	t, ok := v.Entity(key).(T)
	return t, ok
}

// each goes over the entities on one shelf with their type.
func each[T Entity](v View, shelf string, f func(T) bool) {
	v.Each(shelf, func(e Entity) bool {
		t, ok := e.(T)
		return !ok || f(t)
	})
}

func ptr[T any](t T) *T { return &t }

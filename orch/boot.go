package orch

// Machine is what is remembered of the computer.
type Machine struct {
	Boot string `json:"boot"` // the boot in which all processes that are known run, or ran
}

// Booted says in which boot of the computer the daemon runs: it has started. Process ids of another boot mean nothing.
type Booted struct {
	Boot string `json:"boot"`
}

func (Booted) Type() string { return "booted" }
func (Machine) Key() string { return "machine/" }

// BootOf is the boot to which the known processes belong, "" where that has never been told.
func BootOf(v View) string {
	m, _ := get[Machine](v, Machine{}.Key())
	return m.Boot
}

// booted ends, in a new boot, all that ran in the one before. A process of this one may have the id of one of that.
func (s *step) booted(o Booted) {
	old := BootOf(s)
	if s.memory = old == o.Boot; s.memory {
		return
	}
	s.put(Machine(o))
	if old == "" {
		return
	}
	each(s, "wait", func(w Waiter) bool {
		s.del(w.Key())
		return true
	})
	for _, a := range Live(s) {
		if a.Place.Pane != "" || !a.Ours { // else its window is still to be opened, or was not
			s.end(a, serverGone)
		}
	}
	each(s, "agent", func(a Agent) bool {
		if a.Proc.PID != 0 || a.Runner.PID != 0 {
			a.Proc, a.Runner = Process{}, Process{}
			s.put(a)
		}
		return true
	})
}

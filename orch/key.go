package orch

import (
	"fmt"
	"slices"
)

// KeyVerb is how config.toml names the verb that presses keys in a worker's window.
const KeyVerb = "worker key"

// workerKey lets keys be pressed in a worker's window, or refuses it: that decides a dialog, and is a person's. What
// is pressed stands neither in the order nor in the history, since it may be a password.
func (s *step) workerKey(o WorkerKey) *Error {
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	if id := s.who(s.in.By); id.agent != nil && !slices.Contains(o.May.Verbs, KeyVerb) {
		return agentsMay(`verbs = ["`+KeyVerb+`"]`, "an agent may not press keys in a worker's window")
	}
	id, err := s.orders(w)
	if err != nil {
		return err
	}
	if err := s.related(w); err != nil {
		return err
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	switch {
	case a.Gone != "":
		return refuse("agent_exited", "st worker read "+w.ID, "worker %q has ended, there is no screen to press keys on", w.Name)
	case a.Place.Pane == "":
		return refuse("not_ready", "st worker show "+w.ID, "worker %q has no window yet", w.Name)
	}
	s.log("keys-ordered", Event{Worker: w.ID, Agent: a.ID, By: id.name(), Text: o.Screen})
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID)} }
	return nil
}

// keysPressed notes what became of keys.
func (s *step) keysPressed(o KeysPressed) {
	w, ok := get[Worker](s, "worker/"+o.Worker)
	if !ok {
		return
	}
	s.log("keys-pressed", Event{Worker: w.ID, Agent: w.Agent, Text: fmt.Sprintf("%d: %s, %s", o.Pressed, o.Before, o.After)})
	if o.Pressed > 0 {
		s.answer = func() any {
			return KeyAnswer{Worker: workerInfo(s, w.ID), Before: o.Before, After: o.After, Pressed: o.Pressed, Asked: o.Asked}
		}
	}
}

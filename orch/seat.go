package orch

import (
	"fmt"
	"strings"
)

// One process may serve the turns of several agents, each in a pane of its own. What such a turn runs has the
// environment and the ancestry of whichever agent started that process; only its conversation tells whose it is.
// A conversation belongs to the agent that is bound to it, for ever: it may go on in that process when the window is
// closed, and a window that was opened to resume it has it then. Another is bound to the only agent that can have it, or to the one of those that the caller names; where
// that leaves a doubt, the caller is refused.

// seatOf finds the agent of a caller below a shared process. One that has never been seen has no id, one that gets
// its conversation by this has it.
func seatOf(v View, by Caller) (Agent, *Error) {
	if by.Thread == "" {
		return Agent{}, noSeat(by, "its conversation is not known")
	}
	if a, ok := resumed(v, by); ok {
		return a, nil
	}
	if a, ok := agentWhere(v, ofConversation(by.Shared, by.Thread), func(Agent) bool { return true }); ok {
		if a.Gone != "" {
			e := noSeat(by, "the window of its conversation is closed")
			e.Hint = "it stays bound to that window; a new conversation in an open one can be told" // --as would not help
			return Agent{}, e
		}
		if named, ok := seatNamed(v, by); by.As != "" && (!ok || named.ID != a.ID) {
			return Agent{}, refuse("not_yours", "", "%s may not speak as %s", a.ID, by.As)
		}
		return a, nil
	}
	if by.As != "" {
		a, ok := seatNamed(v, by)
		if !ok {
			return Agent{}, noSeat(by, by.As+" is none of them")
		}
		if !a.free(by) {
			return Agent{}, noSeat(by, by.As+" has another conversation")
		}
		a.Conversation = by.Thread
		return a, nil
	}
	free := freeSeats(v, by)
	if len(free) != 1 {
		return Agent{}, noSeat(by, fmt.Sprintf("%d of them may be it", len(free)))
	}
	return free[0], nil
}

// resumed is the agent that was started with the caller's conversation, where it has no other by now.
func resumed(v View, by Caller) (Agent, bool) {
	for _, s := range by.Seats {
		a := seated(v, by, s)
		if s.Thread == by.Thread && by.As == "" && (a.Conversation == "" || a.Conversation == by.Thread) {
			a.Conversation = by.Thread
			return a, true
		}
	}
	return Agent{}, false
}

// Bound tells whether a conversation of a kind is known to be a live agent's.
func Bound(v View, kind, thread string) bool {
	_, ok := agentWhere(v, ofConversation(kind, thread), func(a Agent) bool { return a.Gone == "" })
	return thread != "" && ok
}

// SeatPlace is where a caller below a shared process sits; zero where that can't be told.
func SeatPlace(v View, by Caller) Place {
	a, err := seatOf(v, by)
	if err != nil {
		return Place{}
	}
	return a.Place
}

// free tells that an agent at a seat may get the caller's conversation: it has none, or it is the only agent there
// is and begins a new one, which it can't while a turn runs.
func (a Agent) free(by Caller) bool { return a.Conversation == "" || len(by.Seats) == 1 && !a.Turn }

// freeSeats are the agents that may get the caller's conversation, with that given to them.
func freeSeats(v View, by Caller) []Agent {
	var free []Agent
	for _, s := range by.Seats {
		if a := seated(v, by, s); a.free(by) {
			a.Conversation = by.Thread
			free = append(free, a)
		}
	}
	return free
}

// seated is the agent at a seat, without an id where it has never been seen.
func seated(v View, by Caller, s Seat) Agent {
	a, ok := agentWhere(v, AtProcess(s.Process), func(a Agent) bool { return a.Gone == "" && a.Proc == s.Process })
	if !ok {
		a = Agent{Kind: by.Shared, Proc: s.Process, Place: s.Place}
	}
	return a
}

// seatNamed is the agent that --as names, by its pane or its id.
func seatNamed(v View, by Caller) (Agent, bool) {
	for _, s := range by.Seats {
		if a := seated(v, by, s); s.Place.Pane != "" && by.As == s.Place.Pane || a.ID != "" && by.As == a.ID {
			return a, true
		}
	}
	return Agent{}, false
}

func noSeat(by Caller, why string) *Error {
	e := refuse("caller_unknown", "st agents", "which %s window this is can't be told: one process runs them all, and %s", by.Shared, why)
	var panes []string
	for _, s := range by.Seats {
		if s.Place.Pane != "" {
			panes = append(panes, s.Place.Pane)
		}
	}
	if len(panes) > 0 {
		e.Hint = "say in which pane you sit, once: --as %N, one of " + strings.Join(panes, ", ") + "; or start it without its shared process"
	}
	return e
}

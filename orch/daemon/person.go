package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
	"st/tmux"
)

// keyAge is how long ago a person's last key may be for an act that only a person may do.
const keyAge = 5 * time.Second

// nestedMost is how many tmux servers may stand between a person's terminal and a pane.
const nestedMost = 3

// presence is what was found of a person who acts.
type presence struct {
	evidence *orch.Evidence // nil: there is none
	missing  string         // what is not there
	early    bool           // a key in the next second is enough
}

func nobody(format string, args ...any) presence {
	return presence{missing: fmt.Sprintf(format, args...)}
}

// personAt finds the evidence that a person acts: no agent is above the caller or in its environment, and it runs in the
// active pane of a person's terminal at which a key was pressed a moment ago. This is a guard against agents that err, not a
// wall against code of the same user: keys that a program sends into the very pane, or a window that it shows, while the
// person types at that terminal are not told from the person's own.
func (d *daemon) personAt(ctx context.Context, by orch.Caller) presence {
	if missing := agentIn(by); missing != "" {
		return nobody("%s", missing)
	}
	if by.Place.Pane == "" {
		return nobody("this does not run in a pane of tmux")
	}
	t, _, err := server(ctx, by.Place)
	if err != nil {
		return nobody("its tmux server can't be asked: %v", err)
	}
	panes, err := t.Panes(ctx)
	if err != nil {
		return nobody("its tmux server can't be asked: %v", err)
	}
	if !runsIn(by, panes) {
		return nobody("this does not run in pane %s, which its environment names", by.Place.Pane)
	}
	return keyAt(ctx, t, by.Place, proc.Process(by.Chain[len(by.Chain)-1].Process), nestedMost)
}

// keyAt looks for a person's key in a pane, which runs the process.
func keyAt(ctx context.Context, t *tmux.Tmux, place orch.Place, runs proc.Process, nested int) presence {
	clients, err := t.AllClients(ctx)
	if err != nil {
		return nobody("its tmux server can't be asked: %v", err)
	}
	opened, err := proc.Began(runs)
	if err != nil {
		return nobody("since when there is pane %s can't be told: %v", place.Pane, err)
	}
	// The time of day, as the server tells it, and not that of the loop, which never goes back.
	return keyIn(place, clients, opened, time.Now(), func(c tmux.Client) string { return drivenBy(ctx, c, nested) })
}

// agentIn says which agent is above a caller, or in its environment; "" for none.
func agentIn(by orch.Caller) string {
	for _, l := range by.Chain {
		if l.Kind != "" {
			return fmt.Sprintf("an agent (%s, process %d) runs it", l.Kind, l.PID)
		}
	}
	inside := by.Inside
	if len(by.Chain) > 0 {
		if name := hooks.Inside(environOf(by.Chain[0].PID)); name != "" {
			inside = name
		}
	}
	switch {
	case by.Path != "socket" || len(by.Chain) == 0:
		return "who asks can't be told"
	case by.Shared != "":
		return "an agent (" + by.Shared + ") runs it"
	case by.As != "":
		return "it speaks as " + by.As
	case by.Nonce != "":
		return "its environment is an agent's (ST_AGENT)"
	case inside != "":
		return "its environment is an agent's (" + inside + ")"
	}
	return ""
}

// runsIn says that a caller's ancestry leads to the process of the pane that it names.
func runsIn(by orch.Caller, panes []tmux.Pane) bool {
	for _, p := range panes {
		if p.ID == by.Place.Pane {
			return p.PID == by.Chain[len(by.Chain)-1].PID
		}
	}
	return false
}

// keyIn looks for a terminal that shows a pane and at which a key was pressed a moment ago, after the pane was opened. driven
// says of a terminal what else than a person may press keys there, "" for nothing.
func keyIn(place orch.Place, clients []tmux.Client, opened, now time.Time, driven func(tmux.Client) string) presence {
	var quiet, early, others []string
	control := false
	for _, c := range clients {
		if c.Pane != place.Pane {
			continue
		}
		if c.Control {
			control = true
			continue
		}
		if !lately(c, now) {
			quiet = append(quiet, c.Name)
			continue
		}
		other := driven(c)
		switch {
		case other != "":
			others = append(others, other)
		case !laterKey(c, opened):
			early = append(early, c.Name)
		default:
			return presence{evidence: &orch.Evidence{Client: c.Name, Place: place, Key: time.Unix(c.Activity, 0).UTC()}}
		}
	}
	switch {
	case len(early) > 0:
		return presence{early: true, missing: fmt.Sprintf("no key was pressed at %s since the second in which it was attached or pane %s was opened", strings.Join(early, ", "), place.Pane)}
	case len(others) > 0:
		return nobody("%s", strings.Join(others, "; "))
	case len(quiet) > 0:
		return nobody("no key was pressed at %s in the last %d s", strings.Join(quiet, ", "), int(keyAge.Seconds()))
	case control:
		return nobody("pane %s is shown by a control client only, and nobody presses keys there", place.Pane)
	}
	return nobody("pane %s is not the active pane of an attached terminal", place.Pane)
}

// lately says that the last key, or the attaching, was a moment ago. tmux counts in seconds. A time to come is none: the clock
// was set back since.
func lately(c tmux.Client, now time.Time) bool {
	age := now.Unix() - c.Activity
	return age >= 0 && age <= int64(keyAge.Seconds())
}

// laterKey says that what tmux counts is a key, and not the attaching, which is its first count: a key in that very second looks
// like none. A key from before the pane was opened was not meant for it.
func laterKey(c tmux.Client, opened time.Time) bool {
	return c.Activity != c.Created && time.Unix(c.Activity, 0).After(opened)
}

// drivenBy says what else than a person may press keys at a client's terminal: an agent that has started it, or whoever writes
// into the pane of another server in which it runs. "" for nothing of the kind. What has cut all that leads back to an agent
// (its parents and its environment) can't be told from a person's.
func drivenBy(ctx context.Context, c tmux.Client, nested int) string {
	chain, err := proc.Chain(c.PID)
	if err != nil {
		return fmt.Sprintf("whose the terminal %s is can't be told: %v", c.Name, err)
	}
	for n, info := range chain {
		if kind := linkOf(info).Kind; kind != "" {
			return fmt.Sprintf("an agent (%s, process %d) has attached the terminal %s", kind, info.PID, c.Name)
		}
		if n > 0 && filepath.Base(info.Exe) == "tmux" {
			return nestedIn(ctx, c, info, chain[n-1], nested)
		}
		if name := hooks.Inside(environOf(info.PID)); name != "" {
			return fmt.Sprintf("the terminal %s was attached from the environment of an agent (%s)", c.Name, name)
		}
	}
	return ""
}

// nestedIn says what else than a person may press keys in the pane of another server in which a client runs. A person's keys
// come to it from a terminal that is attached there.
func nestedIn(ctx context.Context, c tmux.Client, outer, runs proc.Info, nested int) string {
	unknown := fmt.Sprintf("the terminal %s runs below another tmux (process %d), and nothing tells who presses keys there", c.Name, outer.PID)
	socket := socketOf(environOf(runs.PID), outer.PID)
	if socket == "" || nested == 0 {
		return unknown
	}
	t := tmux.At(socket)
	is, err := t.Identity(ctx)
	if err != nil || is.PID != int64(outer.PID) {
		return unknown
	}
	panes, err := t.Panes(ctx)
	if err != nil {
		return unknown
	}
	for _, p := range panes {
		if p.PID == runs.PID {
			if found := keyAt(ctx, t, placeOf(is.String(), p), runs.Process, nested-1); found.evidence == nil {
				return fmt.Sprintf("the terminal %s runs in another tmux: %s", c.Name, found.missing)
			}
			return ""
		}
	}
	return unknown
}

// socketOf is the socket of a tmux server in the environment of what it runs; "" for another server's.
func socketOf(env []string, server int) string {
	for _, kv := range env {
		value, ok := strings.CutPrefix(kv, "TMUX=")
		if !ok {
			continue
		}
		if fields := strings.Split(value, ","); len(fields) >= 3 && fields[len(fields)-2] == strconv.Itoa(server) {
			return strings.Join(fields[:len(fields)-2], ",")
		}
	}
	return ""
}

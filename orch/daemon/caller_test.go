//go:build linux || darwin

package daemon

import (
	"context"
	"errors"
	"os"
	"testing"

	"st/orch"
)

func TestPlaceIsTheNearestPaneAbove(t *testing.T) {
	chain := []orch.Link{link(50), link(40), link(30), link(20), link(1)}
	panes := []PaneFact{
		{ID: "%0", PID: 20, Window: "@0", Session: "$0", SessionName: "outer", Dir: "/o"},
		{ID: "%7", PID: 40, Window: "@3", Session: "$1", SessionName: "in", Dir: "/d"},
		{ID: "%9", PID: 99, Window: "@4", Session: "$1"},
	}
	asked := 0
	c := &Callers{Panes: func(_ context.Context, socket string) ([]PaneFact, string, error) {
		asked++
		if socket != "/s,with comma" {
			return nil, "", errors.New("no such server")
		}
		return panes, socket + "|1|2", nil
	}}
	from := From{TMUX: "/s,with comma,12,0", Pane: "%9", As: "a3", Run: "r1", Nonce: "n"}
	by := c.caller(t.Context(), chain, from, "socket", true)
	want := orch.Place{Server: "/s,with comma|1|2", Pane: "%7", Window: "@3", Session: "$1", SessionName: "in", Dir: "/d"}
	if by.Place != want {
		t.Errorf("place %+v, want %+v: the environment's claim must not count", by.Place, want)
	}
	if len(by.Chain) != 2 || by.Chain[1].PID != 40 {
		t.Errorf("chain %+v, want it to end at the pane's process", by.Chain)
	}
	if by.As != "a3" || by.Run != "r1" || by.Nonce != "n" || by.Path != "socket" {
		t.Errorf("passed on: %+v", by)
	}
	again := c.caller(t.Context(), chain, from, "socket", true)
	if again.Place != want || asked != 1 {
		t.Errorf("a hasty one again: %+v after %d questions", again.Place, asked)
	}
	if c.caller(t.Context(), chain, from, "socket", false); asked != 2 {
		t.Errorf("one that is not hasty asked %d times, want 2", asked)
	}
	other := []orch.Link{{Process: orch.Process{PID: 50, Start: 9}}, {Process: orch.Process{PID: 40, Start: 9}}}
	if c.caller(t.Context(), other, from, "socket", true); asked != 3 {
		t.Error("another process of the same pid was taken for the pane's")
	}
}

func link(pid int) orch.Link { return orch.Link{Process: orch.Process{PID: pid, Start: 5}} }

func TestClaimedPane(t *testing.T) {
	c := &Callers{Panes: func(context.Context, string) ([]PaneFact, string, error) {
		return []PaneFact{{ID: "%3", PID: 777}}, "server", nil
	}}
	chain := []orch.Link{link(50), link(40)}
	by := c.caller(t.Context(), chain, From{TMUX: "/s,1,0", Pane: "%3"}, "socket", false)
	if by.Place.Pane != "%3" || len(by.Chain) != 2 {
		t.Errorf("a pane that is there but not above: %+v", by)
	}
	by = c.caller(t.Context(), chain, From{TMUX: "/s,1,0", Pane: "%4"}, "socket", false)
	if by.Place != (orch.Place{}) {
		t.Errorf("a pane that is not there: %+v", by.Place)
	}
	for _, tmux := range []string{"", "x", "/s,1"} {
		if by := c.caller(t.Context(), chain, From{TMUX: tmux, Pane: "%3"}, "socket", false); by.Place != (orch.Place{}) {
			t.Errorf("TMUX=%q: %+v", tmux, by.Place)
		}
	}
}

func TestServerThatIsGonePlacesNobody(t *testing.T) {
	c := &Callers{Panes: func(context.Context, string) ([]PaneFact, string, error) {
		return nil, "", errors.New("no server")
	}}
	by, err := c.OnSocket(t.Context(), os.Getpid(), From{TMUX: "/s,1,0", Pane: "%3"}, false)
	must(t, err)
	if by.Place != (orch.Place{}) || len(by.Chain) < 2 {
		t.Errorf("%+v", by)
	}
	if _, err := c.OnSocket(t.Context(), 1<<30, From{}, false); err == nil {
		t.Error("a process that is not there was a caller")
	}
}

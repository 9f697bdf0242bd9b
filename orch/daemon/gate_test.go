package daemon

import (
	"os"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/tmux"
)

// TestKeyIn: a person is a terminal that shows the very pane and at which a key was pressed a moment ago, later than it was
// attached and than the pane was opened, and which nobody but a person writes to.
func TestKeyIn(t *testing.T) {
	now, opened := time.Unix(1000, 900e6), time.Unix(995, 300e6)
	place := orch.Place{Server: "s", Pane: "%3", SessionName: "main"}
	for name, c := range map[string]struct {
		clients []tmux.Client
		missing string // "" where it is a person
		early   bool
	}{
		"a key":                          {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 996}}, "", false},
		"an old key":                     {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 994}}, "no key was pressed at /dev/pts/1 in the last 5 s", false},
		"a key to come":                  {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 1001}}, "no key was pressed at /dev/pts/1 in the last 5 s", false},
		"no key since it attached":       {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 997, Activity: 997}}, "no key was pressed at /dev/pts/1 since the second in which it was attached", true},
		"just attached":                  {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 1000, Activity: 1000}}, "no key was pressed at /dev/pts/1 since the second", true},
		"long attached, and no key":      {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 900}}, "in the last 5 s", false},
		"a key, and the clock set back":  {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 4000, Activity: 999}}, "", false},
		"a key before the pane":          {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 995}}, "or pane %3 was opened", true},
		"in another pane":                {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%4", Created: 900, Activity: 1000}}, "is not the active pane", false},
		"a program":                      {[]tmux.Client{{Name: "client-7", Pane: "%3", Created: 900, Activity: 1000, Control: true}}, "control client only", false},
		"a program and a person":         {[]tmux.Client{{Pane: "%3", Activity: 1000, Control: true}, {Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 999}}, "", false},
		"two, one of them types":         {[]tmux.Client{{Name: "/dev/pts/1", Pane: "%3", Created: 900, Activity: 901}, {Name: "/dev/pts/2", Pane: "%3", Created: 900, Activity: 999}}, "", false},
		"an agent's terminal":            {[]tmux.Client{{Name: "/dev/pts/1", PID: 7, Pane: "%3", Created: 900, Activity: 999}}, "an agent has attached /dev/pts/1", false},
		"just attached, by an agent":     {[]tmux.Client{{Name: "/dev/pts/1", PID: 7, Pane: "%3", Created: 999, Activity: 999}}, "an agent has attached /dev/pts/1", false},
		"an agent's, and a person types": {[]tmux.Client{{Name: "/dev/pts/1", PID: 7, Pane: "%3", Created: 900, Activity: 999}, {Name: "/dev/pts/2", Pane: "%3", Created: 900, Activity: 999}}, "", false},
		"nobody":                         {nil, "is not the active pane of an attached terminal", false},
	} {
		p := keyIn(place, c.clients, opened, now, func(c tmux.Client) string {
			if c.PID == 7 {
				return "an agent has attached " + c.Name
			}
			return ""
		})
		if (p.evidence != nil) != (c.missing == "") || !strings.Contains(p.missing, c.missing) || p.early != c.early {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestAgentIn: whoever has an agent above it or in its environment is no person, and neither is who can't be told.
func TestAgentIn(t *testing.T) {
	for _, name := range []string{"CLAUDECODE", "CLAUDE_PID", "CODEX_THREAD_ID", "ST_AGENT"} {
		if os.Getenv(name) != "" {
			t.Skipf("these tests run inside an agent (%s)", name)
		}
	}
	self, err := processOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	me := orch.Caller{Path: "socket", Chain: []orch.Link{{Process: self}}}
	if missing := agentIn(me); missing != "" {
		t.Errorf("a person is refused: %s", missing)
	}
	for name, change := range map[string]func(*orch.Caller){
		"an agent above": func(c *orch.Caller) {
			c.Chain = append(c.Chain, orch.Link{Process: orch.Process{PID: 1}, Kind: "demo"})
		},
		"a shared process":    func(c *orch.Caller) { c.Shared = "demo" },
		"an agent's secret":   func(c *orch.Caller) { c.Nonce = "n" },
		"an agent's variable": func(c *orch.Caller) { c.Inside = "CLAUDECODE" },
		"for another":         func(c *orch.Caller) { c.As = "a1" },
		"a file":              func(c *orch.Caller) { c.Path = "spool" },
		"a sandbox":           func(c *orch.Caller) { c.Path, c.Chain = "sandbox", nil },
	} {
		c := me
		c.Chain = append([]orch.Link{}, me.Chain...)
		change(&c)
		if agentIn(c) == "" {
			t.Errorf("%s passes for a person", name)
		}
	}
}

// TestForgedEvidence: what a client says of evidence is not even read.
func TestForgedEvidence(t *testing.T) {
	if inputs["gate-answer"] || inputs["gate-shown"] {
		t.Error("an answer could be handed in past whoever looks for the person")
	}
}

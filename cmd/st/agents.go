package main

import (
	"strings"

	"st/orch"
)

var agentsVerb = &verb{
	name: "agents", about: "every agent: what it is, what it does, where",
	run: agents,
}

func init() { register(agentsVerb) }

func agents(c *call) (int, error) {
	var list []orch.AgentInfo
	if err := c.get("agents", orch.ListArgs{}, &list); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"agents": list})
	}
	if len(list) == 0 {
		return exitDone, c.out.say("no agent")
	}
	var rows [][]styled
	for _, a := range list {
		does := status(a.Status, a.WaitingFor)
		switch {
		case a.Queued > 0:
			does = inLine(a.Queued)
		case len(a.Maybe) > 0:
			does += " (" + strings.Join(a.Maybe, "? ") + "?)"
		}
		rows = append(rows, []styled{
			plain(a.ID), plain(a.Kind), plain(roleOf(a)), cell(a.Name, 24), plain(does),
			plain(ago(a.Since)), cell(a.Session, 16), plain(a.Pane), cell(a.Dir, 48), cell(a.Waits, 48),
		})
	}
	return exitDone, c.out.table([]string{"ID", "AGENT", "ROLE", "NAME", "STATUS", "FOR", "SESSION", "PANE", "FOLDER", "WAITS FOR"}, rows)
}

// roleOf is what an agent is; of one that leads a team, how large that is.
func roleOf(a orch.AgentInfo) string {
	if a.Role == "team_lead" {
		return "lead, " + teamOf(a.Team)
	}
	return a.Role
}

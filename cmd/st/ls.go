package main

import (
	"fmt"

	"st/orch"
)

var lsVerb = &verb{name: "ls", about: "sessions, with how many agents are in them", run: ls}

func init() { register(lsVerb) }

func ls(c *call) (int, error) {
	var sessions []orch.SessionInfo
	if err := c.get("sessions", nil, &sessions); err != nil {
		return 0, err
	}
	var gates []orch.GateInfo
	if err := c.get("gates", orch.GatesArgs{}, &gates); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"sessions": sessions, "gates": gates})
	}
	if len(gates) > 0 {
		if err := c.out.gates(gates); err != nil {
			return 0, err
		}
	}
	if len(sessions) == 0 {
		return exitDone, c.out.say("no session: no tmux server runs here")
	}
	var rows [][]styled
	for _, s := range sessions {
		rows = append(rows, []styled{
			cell(s.Name, 32), plain(fmt.Sprint(s.Windows)), plain(fmt.Sprint(s.Agents)), plain(attached(s.Attached)), cell(s.Server, 48),
		})
	}
	return exitDone, c.out.table([]string{"SESSION", "WINDOWS", "AGENTS", "ATTACHED", "SERVER"}, rows)
}

func attached(clients int) string {
	if clients == 0 {
		return "no"
	}
	return fmt.Sprintf("yes (%d)", clients)
}

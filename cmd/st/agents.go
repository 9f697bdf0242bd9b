package main

import "st/orch"

func init() {
	register(&verb{
		name: "agents", about: "every agent: what it is, what it does, where",
		run: agents,
	})
}

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
		rows = append(rows, []styled{
			plain(a.ID), plain(a.Kind), plain(a.Role), cell(a.Name, 24), plain(status(a.Status, a.WaitingFor)),
			plain(ago(a.Since)), cell(a.Session, 16), plain(a.Pane), cell(a.Dir, 48),
		})
	}
	return exitDone, c.out.table([]string{"ID", "AGENT", "ROLE", "NAME", "STATUS", "FOR", "SESSION", "PANE", "FOLDER"}, rows)
}

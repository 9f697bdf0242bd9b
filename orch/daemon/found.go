package daemon

import (
	"cmp"
	"slices"
	"strings"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
	"st/tmux"
)

// foundAgents are the panes of a server in which an agent program runs: of each the topmost one below the pane's process.
func foundAgents(server string, panes []tmux.Pane) ([]orch.AgentFound, error) {
	all, err := proc.Tree(1)
	if err != nil {
		return nil, err
	}
	byPane := map[int]tmux.Pane{}
	for _, p := range panes {
		byPane[p.PID] = p
	}
	tree := map[int]proc.Info{}
	for _, p := range all {
		tree[p.PID] = p
	}
	found := map[string]orch.AgentFound{}
	for _, p := range all { // parents come before their children
		kind := hooks.KindOf(p.Exe, p.Argv)
		if kind == "" || hooks.IsShared(kind, p.Argv) {
			continue
		}
		if pane, ok := paneAbove(tree, byPane, p); ok {
			if _, has := found[pane.ID]; !has {
				found[pane.ID] = foundAgent(server, kind, pane, p)
			}
		}
	}
	list := make([]orch.AgentFound, 0, len(found))
	for _, f := range found {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b orch.AgentFound) int { return cmp.Compare(a.Proc.PID, b.Proc.PID) })
	return list, nil
}

// paneAbove is the pane in which a process runs.
func paneAbove(tree map[int]proc.Info, panes map[int]tmux.Pane, p proc.Info) (tmux.Pane, bool) {
	for up, ok := p, true; ok; up, ok = tree[up.PPID] {
		if pane, is := panes[up.PID]; is && !pane.Dead {
			return pane, true
		}
	}
	return tmux.Pane{}, false
}

func foundAgent(server, kind string, pane tmux.Pane, p proc.Info) orch.AgentFound {
	f := orch.AgentFound{Kind: kind, Proc: orch.Process(p.Process), Place: placeOf(server, pane), Nonce: nonceIn(environOf(p.PID))}
	f.Conversation, f.Resumes = hooks.TakesUp(kind, p.Argv)
	if runner, err := processOf(pane.PID); err == nil {
		f.Runner = runner
	}
	return f
}

// nonceIn is the secret of an agent in an environment.
func nonceIn(env []string) string {
	for _, kv := range env {
		if nonce, ok := strings.CutPrefix(kv, "ST_AGENT="); ok {
			return nonce
		}
	}
	return ""
}

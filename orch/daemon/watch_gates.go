package daemon

import (
	"context"
	"strings"
	"time"

	"st/orch"
)

// GateOption is the user option in which a status line finds the ids of the open gates, by #{@st_gate}.
const GateOption = "@st_gate"

// unsetTime is how long taking the option away may take when the daemon ends.
const unsetTime = 2 * time.Second

// gates keeps the ids of the open gates in an option of every server that is known, and takes it away at the end. What an
// earlier daemon has left there is put right first.
func (w *watch) gates(ctx context.Context) {
	set := map[string]string{} // by server
	w.onChange(ctx, func() {
		var ids, servers []string
		w.state(func(v orch.View) { ids, servers = orch.OpenGates(v), orch.Servers(v) })
		text := strings.Join(ids, " ")
		for _, server := range servers {
			if was, known := set[server]; known && was == text {
				continue
			}
			if w.setGates(ctx, server, text) {
				set[server] = text
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unsetTime)
	defer cancel()
	for server, text := range set {
		if text != "" {
			w.setGates(ctx, server, "")
		}
	}
}

// setGates is false where it should be tried again: a server that is gone needs no option.
func (w *watch) setGates(ctx context.Context, server, text string) bool {
	t, _, err := serverOf(ctx, server)
	if err == nil {
		err = t.SetUserOption(ctx, GateOption, text)
	}
	if err != nil && !gone(err) {
		w.log.Printf("gates: %s: %v", GateOption, err)
		return false
	}
	return true
}

package main

import (
	"testing"

	"st/orch"
)

// TestRestoreCode: whoever calls by a script learns of the worst that holds, and of an agent that is not there yet.
func TestRestoreCode(t *testing.T) {
	for _, c := range []struct {
		panes []string
		dry   bool
		want  int
	}{
		{nil, false, exitDone},
		{[]string{"shell", "resumed", "back", "gone"}, false, exitDone},
		{[]string{"starting", "resumed"}, false, exitTimedOut},
		{[]string{"waiting", "starting"}, false, exitNeedsInput},
		{[]string{"starting", "failed", "waiting"}, false, exitFailed},
		{[]string{"failed"}, true, exitDone},
		{[]string{"waiting", "starting"}, true, exitDone},
	} {
		info := orch.RestoreInfo{DryRun: c.dry}
		for _, what := range c.panes {
			info.Windows = append(info.Windows, orch.RestoredWindow{Panes: []orch.RestoredPane{{What: what}}})
		}
		if got := restoreCode(info); got != c.want {
			t.Errorf("%v, dry run %v: %d, want %d", c.panes, c.dry, got, c.want)
		}
	}
}

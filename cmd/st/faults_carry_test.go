//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// ownStop is a hook that a person has beside ours: it lets each turn go on once, with a tool.
const ownStop = `grep -q '"stop_hook_active":true' || echo '{"decision":"block","reason":"run true ;; say one more thing"}'`

// TestKilledHookLosesNoLine: the process of a hook that was given a line to tell is killed before it has printed that, or
// behind it, and its agent passes over a hook that was killed. The turn goes on all the same, by a person's prompt or by
// another hook, and calls further hooks of ours. Its coordinator still hears the news, once.
func TestKilledHookLosesNoLine(t *testing.T) {
	beside(t)
	for _, point := range []string{"hook.line.before", "hook.line.after"} {
		for _, way := range []string{"turn_end", "prompt"} {
			t.Run(point+" "+way, func(t *testing.T) {
				t.Parallel()
				killedHook(t, point, way)
			})
		}
	}
}

func killedHook(t *testing.T, point, way string) {
	r := &faultRun{faultDesk: newFaultDesk(t)}
	let := filepath.Join(r.server.Dir(), "let")
	r.lead("run until [ -e "+let+" ]; do sleep 0.1; done ;; say I wait", ownStop)
	goes := func() {
		if err := os.WriteFile(let, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pane, _ := r.paneOf("lead")
	if way == "prompt" {
		goes()
		r.await("the lead rests", func() bool { return r.status("a1") == "idle" })
		r.server.Run("send-keys", "-t", pane, "-l", "run true ;; say aha")
	}
	r.set("plan", point+":1=kill\n")
	if got := r.order("api-start", r.start("api", "wide", "done did api", "")...); got.code != 0 {
		t.Fatal(got)
	}
	r.await("there are news", func() bool { return r.worker("api").State == "finished" })
	if way == "prompt" {
		r.server.Run("send-keys", "-t", pane, "Enter")
	} else {
		goes()
	}
	r.await("a hook is killed with its line", func() bool { return len(r.fired()) == 1 })
	r.await("nothing is owed", func() bool { return r.status("a1") == "idle" && r.nothingOwed() })
	j := r.open()
	if j == nil {
		t.Fatal(r.wrong)
	}
	defer r.close(j)
	events, err := j.History(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, e := range events {
		if strings.HasPrefix(e.Type, "news-") || e.Type == "words-carried" {
			said[e.Type+" "+e.Text]++
		}
	}
	k := &record{faultRun: r, View: j.View()}
	if n := k.times("lead", "w1 finished"); n != 1 || said["words-carried "+way] == 0 || said["news-told finished (typed)"] != 1 {
		t.Errorf("the lead heard the news %d times; the history: %v; its log:%s", n, said, indented(r.jotted("lead")))
	}
}

// status is what an agent is.
func (d *desk) status(id string) string {
	var list struct{ Agents []orch.AgentInfo }
	if got := d.st("agents", "--json"); got.code != 0 || got.read(&list) != nil {
		return fmt.Sprint(got)
	}
	for _, a := range list.Agents {
		if a.ID == id {
			return a.Status
		}
	}
	return ""
}

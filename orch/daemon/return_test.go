//go:build linux || darwin

package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
)

func TestReturn(t *testing.T) {
	st := buildProgram(t)
	for _, at := range []struct{ when, step string }{{"before", "paste-buffer"}, {"after", "paste-buffer"}, {"before", "Enter"}, {"after", "Enter"}} {
		for _, both := range []bool{false, true} {
			what := "tmux"
			if both {
				what = "tmux and the daemon"
			}
			if os.Getenv("ST_LONG") == "" && both != (at.when == "after") {
				continue
			}
			t.Run(fmt.Sprintf("%s is killed %s %s", what, at.when, at.step), func(t *testing.T) { killedTyping(newWorld(t, st), at.when, at.step, both) })
		}
	}
}

// newServer starts a tmux server in place of one that was killed.
func (w *world) newServer() {
	w.Helper()
	w.server.Start()
	w.session = w.server.Session("main")
	id := w.server.Identity()
	w.client.from.TMUX = fmt.Sprintf("%s,%d,0", id.Socket, id.PID)
}

// resume takes up the conversation of a worker's agent by hand.
func (w *world) resume(a orch.StartAnswer, agent, conversation string) {
	w.Helper()
	settings := filepath.Join(scratch(w.home, agent), "settings.json")
	w.server.Run("new-window", "-d", "-t", "main:", "-n", a.Name, "-c", w.path("work"), "env", "ST_HOME="+w.home, "PATH="+w.path("bin")+":"+os.Getenv("PATH"),
		w.path("bin", "st"), "demo-agent", "--settings", settings, "--log", w.path(a.Name+".log"), "--resume", conversation)
}

// killedTyping: the server ends while a message is typed, and the daemon with it. When the agent's conversation is taken
// up again the message is in it, once.
func killedTyping(w *world, when, step string, both bool) {
	a := w.finished("one")
	before := w.agent(a.Agent)
	daemon, tmux := w.pid(), w.server.Identity().PID
	kill := fmt.Sprint(tmux)
	if both {
		kill += fmt.Sprint(" ", daemon)
	}
	w.killAt(when, step, kill)
	request, order := uuid.NewString(), orch.WorkerSend{Worker: "one", Text: "say it"}
	var sent orch.SendAnswer
	err := w.client.Do(context.Background(), request, order, &sent)
	w.wait("tmux is killed", func() (bool, string) { return !processAlive(int(tmux)), "it lives" })
	if both {
		w.died(daemon)
		w.newServer()
		w.up()
	}
	if err != nil {
		must(w.T, w.client.Do(context.Background(), request, order, &sent))
	}
	w.wait("the worker may come back", func() (bool, string) {
		i := w.info(a.Dispatch)
		return i.Worker.Status == "gone_resumable", i.Worker.Status
	})
	if !both {
		w.newServer()
	}
	began := time.Now()
	w.resume(a, a.Agent, before.Conversation)
	w.until(a, "the worker is back", func(i orch.StartInfo) bool { return i.Worker.Agent != a.Agent })
	w.Logf("back after %v", time.Since(began).Round(time.Millisecond))
	w.wait("the message is with the agent", func() (bool, string) {
		var m orch.MessageInfo
		err := w.client.Get(context.Background(), "message", orch.MessageArgs{Message: sent.Message.ID}, &m)
		return err == nil && m.State == orch.Delivered, fmt.Sprintf("%+v %v", m, err)
	})
	// One more comes after it, so that a second copy of the first would be there by now.
	must(w.T, w.client.Do(context.Background(), uuid.NewString(), orch.WorkerSend{Worker: "one", Text: "say more"}, nil))
	var got string
	w.wait("the next is with the agent", func() (bool, string) {
		got = strings.Join(w.given("one"), "\n")
		return strings.Contains(got, "d1-m3.md"), got
	})
	if strings.Count(got, "d1-m2.md") != 1 {
		w.Errorf("given: %s", got)
	}
}

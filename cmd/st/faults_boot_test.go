//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch/proc/proctest"
)

// TestReboot: the computer goes down in the middle of work, with a report in the spool. In the new boot there is no server
// and no socket, and a process id of before means nothing: the report is taken, whoever worked may come back, and
// does with its conversation.
func TestReboot(t *testing.T) {
	beside(t)
	d := newFaultDesk(t)
	d.set("boot", "one")
	for name, task := range map[string]string{"busy": "sleep 100", "reports": "run while ! test -e go; do sleep 0.05; done ;; done did it"} {
		if got := d.st(d.start(name, "wide", task, "")...); got.code != 0 {
			t.Fatal(got)
		}
	}
	busy := d.worker("busy")
	// The daemon does not answer, so that the report waits in a file.
	if err := proctest.Stop(d.daemon()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.server.Dir(), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.await("the report is in the spool", func() bool { return d.spooled("worker-done") })
	d.powerOff()
	if err := os.Remove(d.server.Socket()); err != nil {
		t.Fatal(err)
	}
	d.set("boot", "two")

	if w := d.worker("reports"); w.State != "finished" || w.Summary != "did it" {
		t.Errorf("the report from before: %+v", w)
	}
	if w := d.worker("busy"); w.State != "gone_resumable" || w.Pane != "" {
		t.Errorf("who was at work: %+v", w)
	}
	if got := d.st("worker", "wait", "busy", "--timeout", "100ms"); got.code != exitTimedOut {
		t.Errorf("a wait: %s", got)
	}
	d.server.Start()
	d.server.Session("small")
	d.setEnv()
	began := time.Now()
	d.server.Run("new-window", "-d", "-t", "=small:", "-n", "again", "-e", "ST_HOME="+d.home, "-e", "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"),
		d.bin, "demo-agent", "--settings", filepath.Join(d.home, "run", "launch", busy.Agent, "settings.json"), "--log", d.log("busy"), "--resume", busy.Conversation)
	d.await("who was at work is back", func() bool { w := d.worker("busy"); return w.State != "gone_resumable" && w.Agent != busy.Agent })
	t.Logf("back after %v", time.Since(began).Round(time.Millisecond))
	d.await("it was told to go on", func() bool { return strings.Contains(d.st("log", "--types", "go-on-told").out, "go on with d") })
}

// powerOff ends all at once, without a word: each is stopped before the first is killed.
func (d *faultDesk) powerOff() {
	all := bench{dir: d.server.Dir()}
	stopped := map[int]bool{}
	for more := true; more; {
		more = false
		for _, pid := range all.processes() {
			if !stopped[pid] && proctest.Stop(pid) == nil {
				stopped[pid], more = true, true
			}
		}
	}
	for pid := range stopped {
		d.kill(pid)
	}
	d.await("nothing runs", func() bool { return len(all.processes()) == 0 })
}

// spooled says that an input of that name waits in a file.
func (d *faultDesk) spooled(name string) bool {
	files, _ := filepath.Glob(filepath.Join(d.home, "run", "spool", "[0-9]*.json")) // the pattern is well-formed
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), `"`+name+`"`) {
			return true
		}
	}
	return false
}

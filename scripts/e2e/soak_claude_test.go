//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/orch/proc"
)

func init() {
	soakKinds = append(soakKinds, soakKind{
		name: "claude",
		launcher: func(script, model string) string {
			return strings.ReplaceAll(script, "127.0.0.1:"+os.Getenv("ST_BENCH_PORT"), model)
		},
		runs:  func(p proc.Info) bool { return strings.HasSuffix(strings.TrimSuffix(p.Exe, ".exe"), "/claude") },
		own:   claudeOwn,
		ready: claudeReady,
		drive: claudeDrive,
	})
}

// claudeOwn reads the file in which Claude notes its own state, with the time to the millisecond. It documents
// the file nowhere, so it is good for a comparison only.
func claudeOwn(s *soak) (states, time.Time) {
	s.mu.Lock()
	pid := s.pid
	s.mu.Unlock()
	if pid == 0 {
		return starting | ready, s.life.began
	}
	text, err := os.ReadFile(filepath.Join(s.home, ".claude", "sessions", fmt.Sprint(pid)+".json"))
	if err != nil {
		return 0, time.Time{}
	}
	var f struct {
		Status  string `json:"status"`
		For     string `json:"waitingFor"`
		Updated int64  `json:"statusUpdatedAt"`
	}
	if json.Unmarshal(text, &f) != nil {
		return 0, time.Time{} // being written
	}
	since := time.UnixMilli(f.Updated)
	switch f.Status {
	case "busy":
		return working | compacting | background, since
	case "waiting":
		switch f.For {
		case "permission prompt":
			return permission, since
		case "input needed":
			return question, since
		}
		return asking, since
	case "shell":
		return background, since
	case "idle":
		return idle | ready | starting, since
	}
	return 0, time.Time{}
}

// claudeReady allows what the script runs, and puts the hooks into the person's own settings too: so the hooks of a
// Claude that runs in a tool come from there.
func claudeReady(s *soak) {
	s.allow("default", "Bash(soaktool "+now+":*)", "Bash(soaktool "+later+":*)", "Bash("+childProgram+":*)")
	path := filepath.Join(s.home, ".claude", "settings.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	var set map[string]any
	if err := json.Unmarshal(raw, &set); err != nil {
		s.t.Fatal(err)
	}
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreToolUse", "PostToolUse"} {
		call := map[string]any{"type": "command", "command": filepath.Join(s.home, "bin", "st") + " hook claude", "timeout": 10}
		hooks[event] = []any{map[string]any{"hooks": []any{call}}}
	}
	set["hooks"] = hooks
	if raw, err = json.Marshal(set); err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func claudeDrive(s *soak) {
	s.start("MOCK: bash soaktool now 1", "MOCK: say begun")

	s.now("tools")
	s.say("MOCK: bash soaktool now 0", "MOCK: bash soaktool now 0.3", "MOCK: bash soaktool now 5", "MOCK: say a")
	s.ends()
	s.now("a tool of 20 s")
	s.say("MOCK: bash soaktool now 20", "MOCK: say b")
	s.ends()

	s.now("permission yes")
	s.say("MOCK: bash soaktool now 2 > x", "MOCK: say c")
	s.is(permission)
	hold(3 * time.Second)
	s.press("1")
	s.ends()
	s.now("permission no")
	s.say("MOCK: bash soaktool now 2 > x", "MOCK: say d")
	s.is(permission)
	hold(2 * time.Second)
	s.press("4")
	s.ends()
	s.now("permission Esc")
	s.say("MOCK: bash soaktool now 2 > x", "MOCK: say e")
	s.is(permission)
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("question")
	s.say("MOCK: ask-user Which colour?", "MOCK: say f")
	s.is(question)
	hold(3 * time.Second)
	s.press("1")
	s.ends()

	s.now("subagent")
	s.say("MOCK: subagent MOCK: bash soaktool later 3 ;;; MOCK: say sub", "MOCK: say g")
	s.ends()
	s.now("subagent asks")
	s.say("MOCK: subagent MOCK: bash soaktool later 2 > x ;;; MOCK: say sub", "MOCK: say h")
	s.is(permission)
	hold(time.Second)
	s.press("1")
	s.ends()
	s.now("background command")
	s.say(`MOCK: tool Bash {"command":"soaktool later 5","description":"x","run_in_background":true}`, "MOCK: say i")
	s.is(background)
	s.ends()
	s.now("background subagent")
	s.say(`MOCK: tool Agent {"description":"d","prompt":"MOCK: bash soaktool later 5\nMOCK: say sub","subagent_type":"general-purpose","run_in_background":true}`, "MOCK: say j")
	hold(3 * time.Second)
	s.ends()
	hold(6 * time.Second)
	s.ends()

	s.now("Esc before the first word")
	s.say("MOCK: sleep 20", "MOCK: say never")
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.clear("MOCK: sleep 20")
	s.now("Esc in a tool")
	s.say("MOCK: bash soaktool now 20", "MOCK: say k")
	s.tool()
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("Esc while it speaks")
	s.say("MOCK: say loud", "MOCK: bash soaktool now 0", "MOCK: say speech "+strings.Repeat("and so it goes on ", 800))
	s.shows("and so it goes on")
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("queued prompt")
	s.say("MOCK: bash soaktool now 3", "MOCK: say l")
	s.tool()
	s.line("MOCK: bash soaktool now 2 ;; MOCK: say m")
	s.ends()
	s.now("queued behind the last word")
	s.say("MOCK: say loud", "MOCK: bash soaktool now 0", "MOCK: say speech "+strings.Repeat("and so it goes on ", 500))
	s.shows("and so it goes on")
	s.line("MOCK: bash soaktool now 2 ;; MOCK: say m2")
	s.ends()
	s.now("queued prompt and Esc")
	s.say("MOCK: bash soaktool now 10", "MOCK: say n")
	s.tool()
	before := s.wire.asked()
	s.line("MOCK: sleep 3 ;; MOCK: say o")
	hold(500 * time.Millisecond)
	s.press("Escape")
	s.await(20*time.Second, "the queued prompt is taken up", func() (bool, string) { return s.wire.asked() > before, "" })
	s.ends()

	for _, status := range []string{"400", "429 2", "529 2"} {
		s.now("error " + status)
		s.say("MOCK: error "+status, fmt.Sprintf("MOCK: say after %s in %d", status, s.workers))
		hold(time.Second)
		s.ends()
	}
	s.now("hang and Esc")
	s.say("MOCK: bash soaktool now 0", "MOCK: hang")
	hold(4 * time.Second)
	s.press("Escape")
	s.ends()

	s.now("/compact")
	s.line("/compact")
	s.is(working)
	s.ends()
	s.now("/clear")
	s.line("/clear")
	hold(time.Second)
	s.ends()
	s.now("after /clear")
	s.say("MOCK: bash soaktool now 1", "MOCK: say p")
	s.ends()
	s.now("a child Claude")
	s.say(`MOCK: bash soakchild -p 'MOCK: bash soaktool now 2'`, "MOCK: bash soaktool now 1", "MOCK: say q")
	s.ends()
	s.now("/exit")
	s.line("/exit")
	s.dead()
	s.end()

	s.start("MOCK: bash soaktool now 1", "MOCK: say begun again")
	s.now("kill -9")
	s.say("MOCK: bash soaktool now 20", "MOCK: say r")
	s.tool()
	hold(time.Second)
	s.kill()
	s.dead()
	s.end()
}

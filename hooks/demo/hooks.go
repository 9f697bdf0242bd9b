//go:build unix

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// settings are the hooks that are installed, in the shape that Claude Code's settings have.
type settings struct {
	Hooks map[string][]struct {
		Matcher string `json:"matcher"`
		Hooks   []hook `json:"hooks"`
	} `json:"hooks"`
}

type hook struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"` // seconds; 0 = 60
}

// answer is what the hooks of one event said.
type answer struct {
	Block      bool
	Reason     string
	Context    string // for the model
	Permission string // allow, deny, ask; "" where no hook said anything
}

func readSettings(path string) (settings, error) {
	var s settings
	if path == "" {
		return s, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// of lists the hooks of an event whose matcher fits, each command once.
func (s settings) of(event, subject string) []hook {
	var found []hook
	seen := map[string]bool{}
	for _, group := range s.Hooks[event] {
		if !matches(group.Matcher, subject) {
			continue
		}
		for _, h := range group.Hooks {
			if h.Type == "command" && !seen[h.Command] {
				seen[h.Command] = true
				found = append(found, h)
			}
		}
	}
	return found
}

func matches(matcher, subject string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	ok, err := regexp.MatchString("^(?:"+matcher+")$", subject)
	return ok && err == nil
}

// runHook gives one hook its payload and reads what it says. One that ends with another status than 0 and 2 says nothing,
// as with Codex (0.171.0; Claude Code 2.1.332 takes what one has printed that was killed); the error is for the person.
func runHook(ctx context.Context, h hook, dir string, env []string, payload []byte) (answer, error) {
	limit := time.Duration(h.Timeout * float64(time.Second))
	if limit <= 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := command(ctx, dir, env, "/bin/sh", "-c", h.Command)
	cmd.Stdin = bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 {
		return answer{Block: true, Permission: "deny", Reason: strings.TrimSpace(stderr.String())}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("%w %s", err, strings.TrimSpace(stderr.String()))
	}
	return readAnswer(stdout.Bytes()), nil
}

// readAnswer reads a hook's output; what is no JSON object says nothing.
func readAnswer(out []byte) answer {
	var j struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			AdditionalContext        string `json:"additionalContext"`
			PermissionDecision       string `json:"permissionDecision"`
			PermissionDecisionReason string `json:"permissionDecisionReason"`
			Decision                 struct {
				Behavior string `json:"behavior"`
				Message  string `json:"message"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(out, &j) != nil {
		return answer{}
	}
	a := answer{
		Block: j.Decision == "block", Reason: j.Reason,
		Context: j.Specific.AdditionalContext, Permission: j.Specific.PermissionDecision,
	}
	if a.Permission == "" {
		a.Permission = j.Specific.Decision.Behavior
	}
	for _, r := range []string{j.Specific.PermissionDecisionReason, j.Specific.Decision.Message} {
		if a.Reason == "" {
			a.Reason = r
		}
	}
	return a
}

// merge adds what a further hook said; a refusal outweighs.
func (a *answer) merge(b answer) {
	a.Block = a.Block || b.Block
	for _, s := range []struct {
		to   *string
		from string
	}{{&a.Reason, b.Reason}, {&a.Context, b.Context}} {
		if *s.to != "" && s.from != "" {
			*s.to += "\n"
		}
		*s.to += s.from
	}
	weight := map[string]int{"": 0, "allow": 1, "ask": 2, "deny": 3}
	if weight[b.Permission] > weight[a.Permission] {
		a.Permission = b.Permission
	}
}

// fire runs the hooks of an event and waits for them. fields come on top of what every payload holds. It is
// called from any goroutine but the loop's.
func (a *agent) fire(ctx context.Context, event, subject string, fields map[string]any) answer {
	var sum answer
	if a.o.Nasty.on("no-hooks") || a.o.Nasty.on("silent") {
		return sum
	}
	list := a.settings.of(event, subject)
	if len(list) == 0 {
		return sum
	}
	payload, env := a.payload(event, fields)
	for _, h := range list {
		said, err := runHook(ctx, h, a.dir, env, payload)
		if err != nil && ctx.Err() == nil {
			a.notice("%s hook error: %v", event, err)
		}
		sum.merge(said)
	}
	return sum
}

func (a *agent) payload(event string, fields map[string]any) ([]byte, []string) {
	a.idMu.Lock()
	all := map[string]any{
		"session_id": a.conversation, "transcript_path": a.transcript, "cwd": a.dir, "hook_event_name": event,
		"permission_mode": "default",
	}
	if a.promptID != "" {
		all["prompt_id"] = a.promptID
	}
	env := append(a.toolEnvLocked(), "DEMO_PROJECT_DIR="+a.dir)
	a.idMu.Unlock()
	for k, v := range fields {
		all[k] = v
	}
	// Strings, numbers, maps and lists of them: nothing that JSON can't hold.
	payload, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return payload, env
}

func (a *agent) toolEnvLocked() []string {
	return append(append([]string{}, a.env...),
		fmt.Sprintf("DEMO_PID=%d", os.Getpid()), "DEMO_SESSION_ID="+a.conversation)
}

func (a *agent) toolEnv() []string {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	return a.toolEnvLocked()
}

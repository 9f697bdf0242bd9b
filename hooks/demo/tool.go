//go:build unix

package demo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

// tool is one use of a tool.
type tool struct {
	name, agentID string
	input         map[string]any
	asks          func() dialog // nil: it needs nobody's leave
	run           func() any    // gives the response
}

func (u tool) fields() map[string]any {
	f := map[string]any{"tool_name": u.name, "tool_input": u.input}
	if u.agentID != "" {
		f["agent_id"], f["agent_type"] = u.agentID, "general-purpose"
	}
	return f
}

// tool uses a tool with its hooks around; ran is false where a hook refused it.
func (a *agent) tool(t *turn, u tool) (ran bool, err error) {
	fields := u.fields()
	fields["tool_use_id"] = "tool_" + uuid.NewString()
	if !a.inTurn(t, func() { t.output = true }) {
		return false, errStopped
	}
	said := a.fire(t.ctx, "PreToolUse", u.name, fields)
	if said.Block || said.Permission == "deny" {
		return false, a.refused(t, u, said.Reason)
	}
	if u.asks != nil && said.Permission != "allow" {
		said = a.fire(t.ctx, "PermissionRequest", u.name, u.fields())
		if said.Block || said.Permission == "deny" {
			return false, a.refused(t, u, said.Reason)
		}
		if said.Permission != "allow" && a.ask(t.ctx.Done(), u.asks()) != 0 {
			a.inTurn(t, func() { a.interrupt(true) })
			return false, errStopped
		}
	}
	if !a.inTurn(t, func() { t.tool = true }) {
		return false, errStopped
	}
	fields["tool_response"] = u.run()
	if !a.inTurn(t, func() { t.tool = false }) {
		return true, errStopped
	}
	a.fire(t.ctx, "PostToolUse", u.name, fields)
	return true, nil
}

func (a *agent) refused(t *turn, u tool, reason string) error {
	a.tell("user", u.name+" hook error: "+reason)
	return a.aside(t, u.name+" refused by hook: "+reason)
}

// shell is a command through sh whose output is shown.
func (a *agent) shell(t *turn, text string) tool {
	return tool{name: "Bash", input: map[string]any{"command": text}, run: func() any {
		cmd := command(t.ctx, a.dir, a.toolEnv(), "/bin/sh", "-c", text)
		out, err := cmd.CombinedOutput()
		return a.ran(t, text, string(out), err)
	}}
}

// ran shows what a program has printed, and is its tool's response.
func (a *agent) ran(t *turn, title, out string, err error) any {
	text := strings.TrimRight(out, "\n")
	if err != nil {
		text = strings.TrimSpace(text + "\n" + err.Error())
	}
	a.inTurn(t, func() {
		t.output = true
		a.show("$ " + title + "\n  ⎿  " + strings.ReplaceAll(text, "\n", "\n     "))
	})
	a.tell("tool", "$ "+title+"\n"+text)
	return map[string]any{"stdout": text, "interrupted": t.ctx.Err() != nil}
}

func (a *agent) write(t *turn, text string) error {
	path, content, _ := strings.Cut(text, " ")
	input := map[string]any{"file_path": path, "content": content}
	_, err := a.tool(t, tool{name: "Write", input: input, run: func() any {
		result := "Wrote " + path
		if err := writeFile(a.dir, path, content+"\n"); err != nil {
			result = err.Error()
		}
		a.inTurn(t, func() { t.output = true; a.show("  ⎿  " + result) })
		return map[string]any{"result": result}
	}})
	return err
}

func writeFile(dir, path, content string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// question asks the person; the hooks see it as the tool that the real agent has for it.
func (a *agent) question(t *turn, text string) error {
	d := questionDialog(text)
	var options []map[string]string
	for _, o := range d.options {
		options = append(options, map[string]string{"label": o})
	}
	input := map[string]any{"questions": []map[string]any{{"question": d.body[0], "options": options}}}
	u := tool{name: "AskUserQuestion", input: input}
	said := a.fire(t.ctx, "PreToolUse", u.name, u.fields())
	if said.Block || said.Permission == "deny" {
		return a.refused(t, u, said.Reason)
	}
	a.fire(t.ctx, "PermissionRequest", u.name, u.fields())
	choice := a.ask(t.ctx.Done(), d)
	if choice == cancelled {
		a.inTurn(t, func() { a.interrupt(true) })
		return errStopped
	}
	a.fire(t.ctx, "PostToolUse", u.name, u.fields())
	return a.say(t, "You chose: "+d.options[choice])
}

// subagent runs a command in the name of a subagent.
func (a *agent) subagent(t *turn, text string) error {
	id := uuid.NewString()[:8]
	who := map[string]any{"agent_id": id, "agent_type": "general-purpose"}
	a.fire(t.ctx, "SubagentStart", "general-purpose", who)
	u := a.shell(t, text)
	u.agentID = id
	if _, err := a.tool(t, u); err != nil {
		return err
	}
	a.fire(t.ctx, "SubagentStop", "general-purpose", map[string]any{
		"agent_id": id, "agent_type": "general-purpose", "stop_hook_active": false,
	})
	return nil
}

// background starts a task that outlives the turn. Its end is a prompt that nobody typed.
func (a *agent) background(t *turn, text string) error {
	id := "b" + uuid.NewString()[:8]
	a.idMu.Lock()
	a.running[id] = "sleep " + text
	a.idMu.Unlock()
	go func() {
		if !a.pause(a.ctx, units(text, time.Second)) {
			return
		}
		a.idMu.Lock()
		delete(a.running, id)
		a.idMu.Unlock()
		prompt := Notification + "\n<task-id>" + id + "</task-id>\n<status>completed</status>\n</task-notification>"
		a.do(func() {
			a.jot(entry{What: "machine", Text: prompt})
			a.accept(prompt)
		})
	}()
	return a.aside(t, "Running in the background: sleep "+text)
}

// report runs the command that the task copy names, with the summary as one argument.
func (a *agent) report(t *turn, r *recipe, outcome, summary string) error {
	if a.o.Nasty.on("no-report") {
		return nil
	}
	if r == nil {
		return a.say(t, "Nothing says how to report: "+summary)
	}
	_, _, err := a.own(t, r.argv(outcome, summary))
	return err
}

// asks asks whoever gave the task, by the program that the task copy names, and says what came of it.
func (a *agent) asks(t *turn, text string) error {
	a.idMu.Lock()
	r := a.recipe
	a.idMu.Unlock()
	if r == nil {
		return a.say(t, "Nothing says whom to ask: "+text)
	}
	argv := r.asks(text)
	if short := a.o.Nasty.wait("ask-short", time.Second); short > 0 {
		argv = append(argv, "--timeout", short.String())
	}
	switch printed, ok, err := a.own(t, argv); {
	case err != nil:
		return err
	case !ok:
		if err := a.say(t, "I wait for the answer."); err != nil {
			return err
		}
		return errAsked
	default:
		return a.say(t, "The answer: "+printed)
	}
}

// own runs one of the agent's own verbs, with the hooks of a tool around, and returns what it printed on its standard
// output, and whether it ended with 0.
func (a *agent) own(t *turn, argv []string) (printed string, ok bool, err error) {
	if argv[0] == "st" {
		argv[0] = find("st", lookup(a.env, "PATH"))
	}
	title := strings.Join(argv, " ")
	_, err = a.tool(t, tool{name: "Bash", input: map[string]any{"command": title}, run: func() any {
		cmd := command(t.ctx, a.dir, a.toolEnv(), argv...)
		var out, beside bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &beside
		err := cmd.Run()
		printed, ok = strings.TrimSpace(out.String()), err == nil
		return a.ran(t, title, out.String()+beside.String(), err)
	}})
	return printed, ok, err
}

// find looks a program up in the agent's own PATH; its name comes back where it isn't there.
func find(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) {
			if _, err := exec.LookPath(full); err == nil {
				return full
			}
		}
	}
	return name
}

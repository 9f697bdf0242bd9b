package hooks

import (
	"encoding/json"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Codex runs commands in a sandbox that lets no socket through, and a read-only one has no folder either in which a
// report could be left. Its hooks run outside of that, as the agent's own children: so the hook that is asked about
// a worker's plain report or question hands it in, and the command is replaced by one that only prints what came of it.
// (0.171.0: permissionDecision "allow" is taken together with updatedInput only.)

// Answer refuses a report that is not plain with the line to write instead. Where the agent asks to leave its sandbox
// for a report, or for what a handed-in report was replaced by, nobody needs to be asked. A subagent's report is refused,
// and what only a person may do, or what would stop the server of the terminals, to every agent.
func (c codex) Answer(payload []byte, at Place) []byte {
	call, err := parseCodex(payload)
	if err != nil {
		return nil
	}
	if call.Event == "PreToolUse" { // whoever started the agent
		if why := call.refusal(c.selves(), at, payload); why != "" {
			return codexDecision("deny", why, "")
		}
	}
	if !at.Agent || call.Tool != "Bash" {
		return nil
	}
	r, ok := readReport(call.Input.Command, c.selves())
	switch {
	case call.Subagent != "" && ok && call.Event == "PreToolUse":
		return codexDecision("deny", subagentReports, "")
	case call.Subagent != "":
		return nil
	case call.Event == "PreToolUse" && ok && !r.plain:
		return codexDecision("deny", r.refusal(), "")
	case call.Event == "PermissionRequest" && (ok && r.plain || codexEcho(call.Input.Command)):
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`)
	}
	return nil
}

// refusal is why a tool may not be used so, "" where nothing speaks against it. A patch comes as apply_patch's command (0.171.0),
// where the model has that tool, else by the shell.
func (c codexCall) refusal(selves []string, at Place, payload []byte) string {
	switch c.Tool {
	case "Bash":
		return refusal(c.Input.Command, selves, at, c.Dir)
	case "apply_patch":
		return scopeRefusal(at, c.Dir, func(e *edits) { e.codexPatch(c.Input.Command, c.Dir) })
	}
	return foreignRefusal(at, c.Tool, c.Dir, payload)
}

// Carry returns the calls of a plain report that the hook is to hand in, nil for anything else, and the folder in
// which the command would run.
func (c codex) Carry(payload []byte) (calls [][]string, dir string) {
	call, err := parseCodex(payload)
	if err != nil || call.Event != "PreToolUse" || call.Tool != "Bash" || call.Subagent != "" {
		return nil, ""
	}
	if r, ok := readReport(call.Input.Command, c.selves()); ok && r.plain {
		return r.words(), call.Dir
	}
	return nil, ""
}

// Carried is the answer after the report was handed in: said is what the verb printed, done that it ended well.
func (codex) Carried(said string, done bool) []byte {
	said = strings.TrimSpace(said)
	if !done {
		return codexDecision("deny", said, "")
	}
	return codexDecision("allow", "", "echo "+quotedWord(said))
}

func codexDecision(decision, reason, command string) []byte {
	type input struct {
		Command string `json:"command"`
	}
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason,omitempty"`
		Updated  *input `json:"updatedInput,omitempty"`
	}
	o := output{Event: "PreToolUse", Decision: decision, Reason: reason}
	if command != "" {
		o.Updated = &input{command}
	}
	answer, err := json.Marshal(map[string]output{"hookSpecificOutput": o})
	if err != nil {
		return nil // can't be: strings
	}
	return answer
}

// codexEcho tells that a command does nothing but print one word that stands as it is.
func codexEcho(command string) bool {
	rest, ok := strings.CutPrefix(command, "echo '")
	if !ok || !strings.HasSuffix(rest, "'") {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background {
		return false
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Assigns) == 0 && len(call.Args) == 2 && call.Args[0].Lit() == "echo" && stands(call.Args[1])
}

package hooks

import (
	"encoding/json"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Codex runs commands in a sandbox that lets no socket through, and a read-only one has no folder either in which a
// report could be left. Its hooks run outside of that, as the agent's own children: so the hook that is asked about
// a worker's plain report hands it in, and the command is replaced by one that only prints what came of it.
// (0.171.0: permissionDecision "allow" is taken together with updatedInput only.)

// Answer refuses a report that is not plain with the line to write instead. Where the agent asks to leave its sandbox
// for a report, or for what a handed-in report was replaced by, nobody needs to be asked. A subagent's report is refused.
func (c codex) Answer(payload []byte, agent bool) []byte {
	if !agent {
		return nil
	}
	call, err := parseCodex(payload)
	if err != nil || call.Tool != "Bash" {
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

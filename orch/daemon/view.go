package daemon

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"st/hooks"
	"st/orch"
)

// view answers a question from the state.
type view func(v orch.View, by orch.Caller, args json.RawMessage) (any, error)

// views are the questions that the state alone can answer, by the name they have on the wire.
var views = map[string]view{
	"runs":     query(orch.Runs),
	"run":      query(orch.RunOf),
	"workers":  query(orch.Workers),
	"worker":   query(orch.WorkerOf),
	"agents":   query(orch.Agents),
	"tree":     query(orch.Tree),
	"start":    query(orch.Start),
	"wait":     query(orch.Wait),
	"message":  query(orch.MessageOf),
	"question": query(orch.QuestionOf),
	"gates":    query(orch.Gates),
	"gate":     query(orch.GateOf),
	"mail":     query(orch.LookIn),
	"mailbox":  query(orch.MailFor),
	"delivery": query(orch.DeliveryOf),
	"task":     query(orch.TaskOf),
	"tasks":    query(orch.Tasks),
	"retry":    query(orch.RetryOf),
	"resume":   query(orch.Resuming),
	"worktree": query(orch.WorktreeOf),
}

// query makes a view of a question that orch answers.
func query[A, I any](ask func(orch.View, orch.Caller, A) (I, *orch.Error)) view {
	return func(v orch.View, by orch.Caller, raw json.RawMessage) (any, error) {
		args, err := arguments[A](raw)
		if err != nil {
			return nil, err
		}
		if refusal := orch.CheckAs(v, by); refusal != nil {
			return nil, refusal
		}
		info, refusal := ask(v, by, args)
		if refusal != nil {
			return nil, refusal
		}
		return info, nil
	}
}

// arguments reads the arguments of a view; none is the same as all at their zero value.
func arguments[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return args, &orch.Error{Code: "usage", Message: fmt.Sprintf("the arguments can't be read: %v", err)}
	}
	return args, nil
}

// settledView reports whether a watched view has nothing more to tell.
func settledView(info any) bool {
	switch i := info.(type) {
	case orch.WaitInfo:
		return i.Done
	case orch.QuestionInfo:
		return i.Done
	case orch.MailboxInfo:
		return i.Done
	case orch.MessageInfo:
		return i.State != orch.Queued && i.State != orch.Typed
	case orch.GateInfo:
		return i.Status != orch.GateOpen
	case orch.WorktreeInfo:
		return i.Done()
	case orch.StartInfo:
		return i.Delivery != orch.Pending
	case orch.ResumeInfo:
		return i.Taken || i.Gone
	}
	return false
}

// answerLimit is how much of an answer read shows where no limit is given, in bytes.
const answerLimit = 64 << 10

// lastAnswer is what an agent said last by its own log; "" where there is none to read.
func lastAnswer(kind, transcript string) (string, error) {
	if transcript == "" {
		return "", nil
	}
	k, err := hooks.Lookup(kind)
	if err != nil {
		return "", err
	}
	return k.LastAnswer(transcript)
}

// page cuts a text to limit bytes from cursor on, at borders of characters, and returns the cursor behind
// it: 0 where nothing follows. A limit of 0 is answerLimit; every page holds at least one character.
func page(text string, cursor, limit int) (string, int, error) {
	if cursor < 0 || limit < 0 || cursor > len(text) {
		return "", 0, &orch.Error{Code: "usage", Message: fmt.Sprintf("cursor %d: the answer has %d bytes", cursor, len(text))}
	}
	if limit == 0 {
		limit = answerLimit
	}
	for cursor < len(text) && !utf8.RuneStart(text[cursor]) {
		cursor++
	}
	if len(text)-cursor <= limit {
		return text[cursor:], 0, nil
	}
	end := cursor + limit
	for end > cursor && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == cursor {
		_, size := utf8.DecodeRuneInString(text[cursor:])
		end = cursor + size
	}
	if end == len(text) {
		return text[cursor:], 0, nil
	}
	return text[cursor:end], end, nil
}

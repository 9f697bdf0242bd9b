package orch

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A request is an order with an id, under which it happens once, however often it is given. What was answered is
// kept with the id; a refusal isn't, since it has changed nothing: once its cause is mended the same request can be
// given again. One id stands for one order, by one who asks, in one home.

// RequestMost is the longest request id, in bytes.
const RequestMost = 128

// CheckRequest refuses an id that could not be typed, said or found again: it has 1 to RequestMost letters, digits
// and signs of ASCII without a space. The error's code is usage.
func CheckRequest(id string) *Error {
	var why string
	switch {
	case id == "":
		why = "it is empty"
	case len(id) > RequestMost:
		why = fmt.Sprintf("it has %d characters, at most %d are taken", len(id), RequestMost)
	case strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		why = "only letters, digits and signs of ASCII are taken, and no space"
	default:
		return nil
	}
	return &Error{Code: "usage", Message: fmt.Sprintf("request id %.*q: %s", RequestMost, id, why)}
}

// orders are the inputs that somebody asks for by a verb. All others are facts.
var orders = map[string]bool{
	RunStart{}.Type(): true, RunEnd{}.Type(): true, RunUse{}.Type(): true, WorkerStart{}.Type(): true, WorkerStop{}.Type(): true,
	WorkerRetry{}.Type(): true, WorkerAdopt{}.Type(): true, WorkerRelease{}.Type(): true, TaskCreate{}.Type(): true, TaskUpdate{}.Type(): true, TaskAssign{}.Type(): true, TaskCancel{}.Type(): true, TaskPick{}.Type(): true,
	WorkerDone{}.Type(): true, WorkerProgress{}.Type(): true, WorkerSend{}.Type(): true, WorkerKey{}.Type(): true,
	WorkerAttach{}.Type(): true, WorkerRestart{}.Type(): true, WorkerFinish{}.Type(): true, TreesFree{}.Type(): true,
	Ask{}.Type(): true, Reply{}.Type(): true,
	GateAsk{}.Type(): true, GateAnswer{}.Type(): true, GateCancel{}.Type(): true,
	Send{}.Type(): true, Escalate{}.Type(): true, MailCheck{}.Type(): true, MailAck{}.Type(): true,
}

// IsOrder tells whether an input of that name is one that somebody asks for, rather than a fact.
func IsOrder(name string) bool { return orders[name] }

// Asker is who gives an order, as it is kept with the request: an agent's id or "person".
func Asker(v View, by Caller) string { return whoIs(v, by).name() }

// SameAsker tells whether a request that was kept for asker may be answered to this caller: to the same agent, to one
// that has taken up its conversation, and to a person, who may take up whatever agents began. Two agents, or a person
// and an agent, that hit upon the same id mean two things by it. An asker of "" is not known.
func SameAsker(v View, asker string, by Caller) bool {
	id := whoIs(v, by)
	if asker == "" || id.agent == nil || id.agent.ID == asker {
		return true
	}
	was, ok := get[Agent](v, Agent{ID: asker}.Key())
	return ok && was.Conversation != "" && was.Conversation == id.agent.Conversation
}

// Recalled is a request that a run's own file tells of.
type Recalled struct {
	ID     string
	Input  string // its name
	At     time.Time
	Asker  string
	Answer any
}

// Recall are the starts of workers and the tasks that the runs' files tell of: where the store was lost, or is older than
// they are, what is tried again must find the worker, or the task, that it has made.
func Recall(files []RunFile) (list []Recalled) {
	for _, f := range files {
		for _, t := range f.Tasks {
			if CheckRequest(t.Request) == nil {
				list = append(list, Recalled{ID: t.Request, Input: TaskCreate{}.Type(), At: t.Created, Asker: askedBy(t.By), Answer: TaskAnswer{Task: f.taskInfo(t)}})
			}
		}
		tasks := map[string]string{}
		for _, d := range f.Dispatches {
			tasks[d.ID] = d.Task
		}
		for _, w := range f.Workers {
			if CheckRequest(w.Request) != nil {
				continue
			}
			input := WorkerStart{}.Type()
			switch {
			case w.Retries != "":
				input = WorkerRetry{}.Type()
			case w.Adopted:
				input = WorkerAdopt{}.Type()
			}
			list = append(list, Recalled{ID: w.Request, Input: input, At: w.Created, Asker: askedBy(w.By), Answer: StartAnswer{
				Run: f.Run, Worker: w.ID, Name: w.Name, Task: tasks[w.Dispatch], Dispatch: w.Dispatch, Agent: w.Agent,
			}})
		}
	}
	return list
}

// askedBy is who has asked for something, as it is kept with a request.
func askedBy(agent string) string {
	if agent == "" {
		return identity{}.name()
	}
	return agent
}

// taskInfo is a task as its run's file tells of it.
func (f RunFile) taskInfo(t RunTask) TaskInfo {
	return TaskInfo{ID: t.ID, Run: f.Run, Title: t.Title, Spec: t.Spec, Source: t.Source, Status: t.Status, Reason: t.Reason, Deps: list(t.Deps), Dispatch: t.Dispatch,
		Attempts: t.Attempts, Failures: t.Failures, Outcome: t.Outcome, Summary: t.Summary, By: t.By, Created: t.Created}
}

// RequestOf shows a request that is kept: asker and answer as they are kept, and the worker that it has started.
func RequestOf(v View, input string, answer json.RawMessage) (*WorkerInfo, json.RawMessage) {
	switch input {
	case WorkerStart{}.Type(), WorkerRetry{}.Type(), WorkerAdopt{}.Type():
	case TaskCreate{}.Type():
		return nil, withoutEnv(answer, func(a *TaskAnswer) { a.EnvFile = "" })
	default:
		return nil, answer
	}
	var a StartAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, answer
	}
	answer = withoutEnv(answer, func(a *StartAnswer) { a.EnvFile = "" })
	if _, ok := get[Worker](v, Worker{ID: a.Worker}.Key()); !ok {
		return nil, answer
	}
	w := workerInfo(v, a.Worker)
	return &w, answer
}

// withoutEnv is an answer without the path of an environment, which is nobody's to know.
func withoutEnv[A any](raw json.RawMessage, drop func(*A)) json.RawMessage {
	var a A
	if err := json.Unmarshal(raw, &a); err != nil {
		return raw
	}
	drop(&a)
	if told, err := json.Marshal(a); err == nil {
		return told
	}
	return raw
}

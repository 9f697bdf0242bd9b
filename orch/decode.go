package orch

import (
	"encoding/json"
	"fmt"
)

// What stands on the wire and in the journal is read here: a new input, order or entity is a line in one of these tables.

// A decoder reads one type from JSON.
type decoder[T any] func(raw []byte) (T, error)

// into reads C where any of its kind may come.
func into[C, T any](raw []byte) (T, error) {
	v, err := decode[C](raw)
	if err != nil {
		var none T
		return none, err
	}
	return any(v).(T), nil
}

var whats = map[string]decoder[What]{
	RunStart{}.Type():       into[RunStart, What],
	RunEnd{}.Type():         into[RunEnd, What],
	RunUse{}.Type():         into[RunUse, What],
	WorkerStart{}.Type():    into[WorkerStart, What],
	WorkerStop{}.Type():     into[WorkerStop, What],
	WorkerRetry{}.Type():    into[WorkerRetry, What],
	WorkerAdopt{}.Type():    into[WorkerAdopt, What],
	WorkerRelease{}.Type():  into[WorkerRelease, What],
	TaskCreate{}.Type():     into[TaskCreate, What],
	TaskUpdate{}.Type():     into[TaskUpdate, What],
	TaskAssign{}.Type():     into[TaskAssign, What],
	TaskCancel{}.Type():     into[TaskCancel, What],
	TaskPick{}.Type():       into[TaskPick, What],
	CheckEnded{}.Type():     into[CheckEnded, What],
	WorkerDone{}.Type():     into[WorkerDone, What],
	WorkerProgress{}.Type(): into[WorkerProgress, What],
	WorkerSend{}.Type():     into[WorkerSend, What],
	WorkerKey{}.Type():      into[WorkerKey, What],
	Ask{}.Type():            into[Ask, What],
	Reply{}.Type():          into[Reply, What],
	AskTold{}.Type():        into[AskTold, What],
	Send{}.Type():           into[Send, What],
	Escalate{}.Type():       into[Escalate, What],
	MailCheck{}.Type():      into[MailCheck, What],
	MailAck{}.Type():        into[MailAck, What],
	MailTold{}.Type():       into[MailTold, What],
	KeysPressed{}.Type():    into[KeysPressed, What],
	WaitTold{}.Type():       into[WaitTold, What],
	Hook{}.Type():           into[Hook, What],
	HookUnheard{}.Type():    into[HookUnheard, What],
	Transcript{}.Type():     into[Transcript, What],
	PaneOpened{}.Type():     into[PaneOpened, What],
	PaneFailed{}.Type():     into[PaneFailed, What],
	AgentStarted{}.Type():   into[AgentStarted, What],
	AgentExited{}.Type():    into[AgentExited, What],
	ScreenSeen{}.Type():     into[ScreenSeen, What],
	WordTyped{}.Type():      into[WordTyped, What],
	FileWritten{}.Type():    into[FileWritten, What],
	AgentStopped{}.Type():   into[AgentStopped, What],
	ServerSeen{}.Type():     into[ServerSeen, What],
	AgentMoved{}.Type():     into[AgentMoved, What],
	WorkerAttach{}.Type():   into[WorkerAttach, What],
	Booted{}.Type():         into[Booted, What],
	LogSearched{}.Type():    into[LogSearched, What],
	LaunchDropped{}.Type():  into[LaunchDropped, What],
	WorkerFinish{}.Type():   into[WorkerFinish, What],
	TreesFree{}.Type():      into[TreesFree, What],
	TreeFinished{}.Type():   into[TreeFinished, What],
	TreeMade{}.Type():       into[TreeMade, What],
	SetupEnded{}.Type():     into[SetupEnded, What],
	SetupStopped{}.Type():   into[SetupStopped, What],
	Configured{}.Type():     into[Configured, What],
	WaitBegan{}.Type():      into[WaitBegan, What],
	WaitOver{}.Type():       into[WaitOver, What],
	GateAsk{}.Type():        into[GateAsk, What],
	GateAnswer{}.Type():     into[GateAnswer, What],
	GateCancel{}.Type():     into[GateCancel, What],
	GateTold{}.Type():       into[GateTold, What],
	GateShown{}.Type():      into[GateShown, What],
	WorkerRestart{}.Type():  into[WorkerRestart, What],
	AgentResume{}.Type():    into[AgentResume, What],
	Tick{}.Type():           into[Tick, What],
}

var effects = map[string]decoder[Order]{
	PaneOpen{}.Type():   into[PaneOpen, Order],
	WordType{}.Type():   into[WordType, Order],
	FileWrite{}.Type():  into[FileWrite, Order],
	AgentStop{}.Type():  into[AgentStop, Order],
	LogSearch{}.Type():  into[LogSearch, Order],
	LaunchDrop{}.Type(): into[LaunchDrop, Order],
	GateShow{}.Type():   into[GateShow, Order],
	CheckRun{}.Type():   into[CheckRun, Order],
	TreeFinish{}.Type(): into[TreeFinish, Order],
	TreeMake{}.Type():   into[TreeMake, Order],
	SetupRun{}.Type():   into[SetupRun, Order],
	SetupStop{}.Type():  into[SetupStop, Order],
}

// DecodeWhat reads an input's happening from its name and JSON, as it stands on the wire.
func DecodeWhat(name string, raw []byte) (What, error) {
	if d := whats[name]; d != nil {
		return d(raw)
	}
	return nil, fmt.Errorf("no input is called %q", name)
}

// DecodeOrder reads an effect's order from its name and JSON, as it stands in the journal.
func DecodeOrder(name string, raw []byte) (Order, error) {
	if d := effects[name]; d != nil {
		return d(raw)
	}
	return nil, fmt.Errorf("no effect is called %q", name)
}

var entities = map[string]decoder[Entity]{
	"counters": into[Counters, Entity],
	"run":      into[Run, Entity],
	"agent":    into[Agent, Entity],
	"task":     into[Task, Entity],
	"worker":   into[Worker, Entity],
	"dispatch": into[Dispatch, Entity],
	"word":     into[Word, Entity],
	"message":  into[Message, Entity],
	"delivery": into[MailDelivery, Entity],
	"gate":     into[Gate, Entity],
	"told":     into[Told, Entity],
	"clock":    into[Clock, Entity],
	"wait":     into[Waiter, Entity],
	"queued":   into[QueuedStart, Entity],
	"limits":   into[Limits, Entity],
	"machine":  into[Machine, Entity],
	"worktree": into[Worktree, Entity],
}

// DecodeEntity reads an entity from its key and JSON, as it stands in the journal.
func DecodeEntity(key string, raw []byte) (Entity, error) {
	noun, _, _ := cut(key)
	if d := entities[noun]; d != nil {
		return d(raw)
	}
	return nil, fmt.Errorf("no entity has the key %q", key)
}

func decode[T any](raw []byte) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, nil
	}
	err := json.Unmarshal(raw, &v)
	return v, err
}

// cut splits a key into noun and id.
func cut(key string) (noun, id string, ok bool) {
	for i := 0; i < len(key); i++ {
		if key[i] == '/' {
			return key[:i], key[i+1:], true
		}
	}
	return key, "", false
}

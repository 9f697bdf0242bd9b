package orch

import (
	"encoding/json"
	"fmt"
)

// What stands in the journal is read here: a new order or entity is a line in one of these tables.

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

var effects = map[string]decoder[Order]{
	PaneOpen{}.Type():   into[PaneOpen, Order],
	WordType{}.Type():   into[WordType, Order],
	FileWrite{}.Type():  into[FileWrite, Order],
	AgentStop{}.Type():  into[AgentStop, Order],
	LogSearch{}.Type():  into[LogSearch, Order],
	LaunchDrop{}.Type(): into[LaunchDrop, Order],
	FilesMove{}.Type():  into[FilesMove, Order],
	GateShow{}.Type():   into[GateShow, Order],
	CheckRun{}.Type():   into[CheckRun, Order],
	TreeFinish{}.Type(): into[TreeFinish, Order],
	TreeMake{}.Type():   into[TreeMake, Order],
	SetupRun{}.Type():   into[SetupRun, Order],
	SetupStop{}.Type():  into[SetupStop, Order],
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

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"st/orch"
)

// eventBatch is how many events are read from the store at a time. Nothing of the store is held while they are sent.
const eventBatch = 256

// watchEvents sends the history after a sequence number, then each event as it is committed. It reads from the store
// at the reader's pace, so that nobody else waits for a slow one; where that reads nothing for long the connection
// ends, and it asks again from where it was.
func (d *daemon) watchEvents(ctx context.Context, by orch.Caller, raw json.RawMessage, send func(any) error) (last json.RawMessage, err error) {
	args, err := d.eventArgs(raw)
	if err != nil {
		return nil, err
	}
	if args.Run, err = d.runID(by, args.Run); err != nil {
		return nil, err
	}
	changed, end := d.loop.Subscribe() // before the first look, so that nothing falls between the two
	defer end()
	for since := args.Since; ; {
		events, err := d.journal.History(since, eventBatch)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			since = e.Seq
			if !e.Wants(args.Types) || args.Run != "" && e.Run != args.Run {
				continue
			}
			if err := send(e); err != nil {
				return nil, err
			}
		}
		if len(events) == eventBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (d *daemon) eventArgs(raw json.RawMessage) (orch.EventArgs, error) {
	args, err := arguments[orch.EventArgs](raw)
	if err != nil {
		return args, err
	}
	if refusal := orch.CheckTypes(args.Types); refusal != nil {
		return args, refusal
	}
	newest, err := d.journal.Newest()
	if err == nil && args.Since > newest {
		err = &orch.Error{
			Code: "usage", Message: fmt.Sprintf("event %d has not come yet: the newest is %d", args.Since, newest),
			Hint: "a store that was lost counts anew", Next: []string{"st log --limit 1"},
		}
	}
	return args, err
}

// history is the past of one run or of all, at most the newest Limit events of it.
func (d *daemon) history(by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := d.eventArgs(raw)
	if err != nil {
		return nil, err
	}
	if args.Run, err = d.runID(by, args.Run); err != nil {
		return nil, err
	}
	var wanted func(orch.Event) bool
	var refusal *orch.Error
	d.loop.Read(func(v orch.View) { wanted, refusal = orch.About(v, by, args) })
	if refusal != nil {
		return nil, refusal
	}
	info := orch.HistoryInfo{}
	if info.Events, err = d.newest(args, wanted); err != nil {
		return nil, err
	}
	d.loop.Read(func(v orch.View) { info.Names = orch.Named(v, info.Events) })
	return info, nil
}

// newest are the newest events that are wanted, oldest first. It reads from the end, so that the last few of a long
// past cost no more than those of a short one.
func (d *daemon) newest(args orch.EventArgs, wanted func(orch.Event) bool) ([]orch.Event, error) {
	list := []orch.Event{}
	for before, more := uint64(math.MaxUint64), true; more; {
		events, err := d.journal.HistoryBefore(before, eventBatch)
		if err != nil {
			return nil, err
		}
		more = len(events) == eventBatch
		for _, e := range slices.Backward(events) {
			if e.Seq <= args.Since || args.Limit > 0 && len(list) == args.Limit {
				more = false
				break
			}
			if before = e.Seq; wanted(e) {
				list = append(list, e)
			}
		}
	}
	slices.Reverse(list)
	return list, nil
}

// runID is the id of the run that is meant, "" for all.
func (d *daemon) runID(by orch.Caller, name string) (id string, err error) {
	if name == "" && by.Run == "" {
		return "", nil
	}
	d.loop.Read(func(v orch.View) {
		r, refusal := orch.RunOf(v, by, orch.RunArgs{Run: name})
		if id = r.ID; refusal != nil {
			err = refusal
		}
	})
	return id, err
}

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"st/orch"
	"st/orch/journal"
)

// The toy is a small world for the loop: three inputs, two effects. Its entities are tasks. A task's text
// is one x for each time that its input was stepped.
type (
	toyPut  struct{ N int }          // makes task N and owes a toyLine
	toyPair struct{ N int }          // makes task N and owes a toyTwo
	toyDone struct{ N int }          // the result of either
	toyLine struct{ N int }          // appends one line to a file
	toyTwo  struct{ N int }          // appends two, in two stages
	toyTurn struct{ Do string }      // for the loop's own tests: panic, refuse, memory
	toyData struct{ Task, X string } // an answer
)

func (toyPut) Type() string  { return "toy-put" }
func (toyPair) Type() string { return "toy-pair" }
func (toyDone) Type() string { return "toy-done" }
func (toyLine) Type() string { return "toy-line" }
func (toyTwo) Type() string  { return "toy-two" }
func (toyTurn) Type() string { return "toy-turn" }

func toyOrder(name string, raw []byte) (orch.Order, error) {
	var line toyLine
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, err
	}
	switch name {
	case "toy-line":
		return line, nil
	case "toy-two":
		return toyTwo(line), nil
	}
	return nil, fmt.Errorf("no toy is called %q", name)
}

func toyID(n int) string { return fmt.Sprintf("t%d", n) }

func toyTask(v orch.View, n int) orch.Task {
	t, ok := v.Entity("task/" + toyID(n)).(orch.Task)
	if !ok {
		t = orch.Task{ID: toyID(n), Run: "r1", Status: "ready"}
	}
	return t
}

func toyStep(v orch.View, in orch.Input) (orch.Changes, []orch.Effect) {
	switch what := in.What.(type) {
	case toyPut:
		return toyMake(v, in, what.N, toyLine(what))
	case toyPair:
		return toyMake(v, in, what.N, toyTwo(what))
	case toyDone:
		t := toyTask(v, what.N)
		t.Status = "completed"
		return orch.Changes{Puts: []orch.Entity{t}, Events: []orch.Event{{At: in.At, Type: "done", Task: t.ID}}}, nil
	case toyTurn:
		return toyOdd(v, what)
	}
	return orch.Changes{}, nil
}

func toyMake(v orch.View, in orch.Input, n int, do orch.Order) (orch.Changes, []orch.Effect) {
	t := toyTask(v, n)
	t.Spec += "x"
	run := orch.Run{ID: "r1", Name: "toy", Objective: "toys"}
	return orch.Changes{
		Puts:   []orch.Entity{run, t},
		Events: []orch.Event{{At: in.At, Type: "made", Run: "r1", Task: t.ID}},
		Answer: toyData{Task: t.ID, X: t.Spec},
	}, []orch.Effect{{Do: do}}
}

func toyOdd(v orch.View, what toyTurn) (orch.Changes, []orch.Effect) {
	t := toyTask(v, 1)
	t.Spec += "x"
	switch what.Do {
	case "panic":
		panic("as was asked")
	case "refuse":
		return orch.Changes{Err: &orch.Error{Code: "no", Message: "no"}}, nil
	case "memory":
		return orch.Changes{Puts: []orch.Entity{t}, Memory: true}, nil
	}
	return orch.Changes{Puts: []orch.Entity{t}, Answer: t.Spec}, nil
}

// toyFile is the world outside: lines in a file, appended by one write each.
type toyFile struct {
	path string
	mu   sync.Mutex
}

func (f *toyFile) append(line string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

func (f *toyFile) lines() ([]string, error) {
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"), err
}

func (f *toyFile) has(line string) (bool, error) {
	all, err := f.lines()
	for _, l := range all {
		if l == line {
			return true, err
		}
	}
	return false, err
}

// note counts a resumed effect, beside the world.
func (f *toyFile) note(stage string) error {
	return (&toyFile{path: f.path + "-resumed"}).append("resumed at " + stage)
}

// effect carries out both toy effects. It never appends what may stand there already without a look, and
// never looks where the stages say that it needn't: so a lost or a doubled stage shows in the file.
func (f *toyFile) effect(ctx context.Context, r Running) {
	n, stages := 0, []string{"one"}
	switch do := r.Do.(type) {
	case toyLine:
		n = do.N
	case toyTwo:
		n, stages = do.N, []string{"one", "two"}
	}
	if r.Resumed {
		if err := f.note(r.Stage); err != nil {
			return
		}
	}
	begun := r.Stage
	for _, name := range stages {
		if err := f.stage(ctx, r, name, &begun); err != nil {
			return
		}
	}
	// An error means that the loop has ended first; then the effect is taken up again.
	_ = r.Done(ctx, toyDone{N: n})
}

// stage does one stage. begun is the stage that an earlier try was in, "" from there on: stages before it
// are done, it itself may be.
func (f *toyFile) stage(ctx context.Context, r Running, name string, begun *string) error {
	line := fmt.Sprintf("%d %s", r.ID, name)
	if *begun == "" {
		if err := r.Tell(ctx, name); err != nil {
			return err
		}
		return f.append(line)
	}
	if *begun != name {
		return nil
	}
	*begun = ""
	there, err := f.has(line)
	if err != nil || there {
		return err
	}
	return f.append(line)
}

// toyLoop opens a journal in dir and makes a loop over it.
func toyLoop(dir string) (*Loop, *toyFile, error) {
	j, err := journal.Open(dir, journal.Options{Order: toyOrder, Wait: 5 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	f := &toyFile{path: filepath.Join(dir, "world")}
	return &Loop{Journal: j, Step: toyStep, Effect: f.effect}, f, nil
}

package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"

	"st/hooks"
	"st/orch"
)

// givenChecks are about a kind that a person has described. Whether its mark is the right one only a start tells, see trial.
func (d *doctor) givenChecks(name string) []check {
	kind, err := hooks.Fresh(name)
	if err != nil {
		return []check{{"kind", name, func(context.Context) finding { return badKind(err) }}}
	}
	path, err := exec.LookPath(kind.Program())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return []check{{"program", name, func(context.Context) finding { return d.absent(kind) }}}
	}
	return []check{{"program", name, func(context.Context) finding { return fine("%s", path) }}}
}

func badKind(err error) finding {
	var e *orch.Error
	if errors.As(err, &e) {
		return fault(e.Next, "%s", e.Message)
	}
	return fault(nil, "%v", err)
}

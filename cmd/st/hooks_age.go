package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/mod/semver"

	"st/hooks"
	"st/orch"
)

// ageTime is how long a program may take to tell its version.
const ageTime = 10 * time.Second

// checkAges refuses hooks for a program that would throw away a person's whole settings because of them.
func (c *call) checkAges(agents []hooked) error {
	for _, a := range agents {
		least := hooks.Least(a.settings)
		path, err := exec.LookPath(a.settings.Program())
		if least == "" || err != nil {
			continue // the hooks wait for a program that is still to come
		}
		ctx, cancel := context.WithTimeout(c.ctx, ageTime)
		defer cancel()
		said, err := probe(ctx, os.Environ(), path, "--version")
		v := versionIn(said)
		switch {
		case err != nil || v == "":
			c.out.note("%s: %s --version does not tell its version (%v); st's hooks need %s or newer", a.kind, path, orSaid(err, said), least)
		case semver.Compare("v"+v, "v"+least) < 0:
			return tooOld(a.kind, path, v, least)
		}
	}
	return nil
}

func tooOld(kind, path, version, least string) error {
	return &orch.Error{
		Code: "agent_too_old",
		Message: fmt.Sprintf("%s: %s is %s, which throws a settings file away that holds hooks it does not know, with all that you have set there; "+
			"nothing was changed", kind, path, version),
		Hint: fmt.Sprintf("bring it up to date, to %s or newer, or look whether another one is meant:", least),
		Next: []string{"st doctor --agent " + kind},
	}
}

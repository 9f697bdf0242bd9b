package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"st/hooks"
	"st/orch/daemon"
)

// patient is one kind of agent, with the environment that one would get that is started from this shell.
type patient struct {
	*doctor
	kind    hooks.Kind
	told    hooks.Examined
	program string // absolute path
	env     []string
}

// agentChecks are about one kind of agent. The built-in one is st itself and has none.
func (d *doctor) agentChecks(name string) []check {
	kind, err := hooks.Lookup(name)
	told, ok := kind.(hooks.Examined)
	if err != nil || !ok {
		return nil
	}
	path, err := exec.LookPath(kind.Program())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return []check{{"program", name, func(context.Context) finding { return d.absent(kind) }}}
	}
	p := &patient{doctor: d, kind: kind, told: told, program: path, env: d.agentEnv(kind, path)}
	return []check{
		{"program", name, p.checkVersion},
		{"settings", name, p.checkFaults},
		{"hooks", name, p.checkHooks},
		{"consents", name, p.checkConsents},
		{"plugin", name, p.checkPlugin},
		{"shell", name, p.checkShell},
	}
}

// absent: a kind that nobody asked for may be missing.
func (d *doctor) absent(kind hooks.Kind) finding {
	if d.only == "" {
		return fine("%q is not in PATH; that kind of agent can't be started from here", kind.Program())
	}
	return fault(nil, "%q is not in PATH: install it so that typing %q in this shell starts it", kind.Program(), kind.Program())
}

// agentEnv is what an agent gets that is started from here, less what only its pane knows.
func (d *doctor) agentEnv(kind hooks.Kind, program string) []string {
	more, err := daemon.PassEnv(d.home)
	if err != nil {
		more = nil // what is wrong with the configuration is said where that is checked
	}
	launch, err := kind.Launch(hooks.Spec{Program: program, Self: d.self, Home: d.home})
	if err != nil {
		launch = hooks.Launch{}
	}
	var env []string
	for _, pair := range daemon.Environment(os.Environ(), nil, more) {
		if name, _, _ := strings.Cut(pair, "="); !daemon.NameIn(launch.Unset, name) {
			env = append(env, pair)
		}
	}
	return append(env, "TERM=tmux-256color")
}

// lookup finds a variable of the agent's environment.
func (p *patient) lookup(name string) string {
	for _, pair := range p.env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// checkVersion: screens and hooks are read as they were measured; another version may have changed them.
func (p *patient) checkVersion(ctx context.Context) finding {
	said, err := probe(ctx, p.env, p.program, "--version")
	if ctx.Err() != nil {
		return warning(nil, "%s --version: no answer within %v", p.program, p.patience())
	}
	v := versionIn(said)
	if err != nil || v == "" {
		return fault([]string{shellWord(p.program) + " --version"}, "%s does not tell its version: %v", p.program, orSaid(err, said))
	}
	oldest, newest := p.told.Tested()
	if semver.Compare("v"+v, "v"+oldest) < 0 || semver.Compare("v"+v, "v"+newest) > 0 {
		return warning(nil, "%s, %s; tested with %s", v, p.program, span(oldest, newest))
	}
	return fine("%s, %s", v, p.program)
}

// versionIn is the first version number in what a program says of itself; "" for none.
func versionIn(said string) string {
	return regexp.MustCompile(`\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?`).FindString(said)
}

func orSaid(err error, said string) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("it says %q", lastLine(said))
}

func span(oldest, newest string) string {
	if oldest == newest {
		return oldest
	}
	return oldest + " to " + newest
}

// checkFaults: without hooks no start can be proved and no turn's end be heard.
func (p *patient) checkFaults(context.Context) finding {
	dir, err := os.Getwd()
	if err != nil {
		dir = p.lookup("HOME") // the folder is gone: nobody can start an agent in it
	}
	faults := p.told.Faults(p.lookup, dir)
	if len(faults) == 0 {
		return fine("hooks may run")
	}
	f := faults[0]
	return fault([]string{"${EDITOR:-vi} " + shellWord(f.Path)}, "%s: %s", f.Path, f.What)
}

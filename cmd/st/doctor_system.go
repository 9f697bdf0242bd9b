package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"st/tmux"
)

// systemChecks are about what st runs on.
func (d *doctor) systemChecks() []check {
	checks := []check{
		{"st", "", d.checkSelf},
		{"sandbox", "", d.checkSandbox},
		{"tmux", "", d.checkTmux},
		{"server", "tmux", d.checkServer},
		{"terminal", "", checkTerm},
		{"git", "", checkGit},
		{"clock", "", d.checkClock},
	}
	return append(checks, kernelChecks()...)
}

// checkSelf: which st the shell that asks finds. The name also belongs to a terminal emulator.
func (d *doctor) checkSelf(context.Context) finding {
	found, err := exec.LookPath("st")
	switch {
	case err != nil:
		return warning(d.reachSelf(""), "this is %s, which PATH does not find", d.self)
	case !sameProgram(found, d.self):
		return warning(d.reachSelf(""), "this is %s, but PATH finds %s", d.self, found)
	}
	return fine("st %s, %s", version, d.self)
}

// reachSelf are lines that make st in a shell be this one: written into its startup file, or typed where startup
// is "".
func (d *doctor) reachSelf(startup string) []string {
	line := fmt.Sprintf(`export PATH=%s:"$PATH"`, shellWord(filepath.Dir(d.self)))
	if filepath.Base(d.self) != "st" {
		return []string{"ln -s " + shellWord(d.self) + " ~/.local/bin/st"}
	}
	if startup == "" {
		return []string{line}
	}
	return []string{"echo " + shellWord(line) + " >> " + shellWord(startup)}
}

func sameProgram(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// checkSandbox: where no socket is let through, as in an agent's sandbox, nothing can be said of daemon and tmux.
func (d *doctor) checkSandbox(context.Context) finding {
	if d.boxed() {
		return fault([]string{"st doctor"}, "this shell may not use sockets, as in an agent's sandbox; ask outside of it")
	}
	return fine("none: sockets may be used")
}

func (d *doctor) checkTmux(ctx context.Context) finding {
	v, err := tmux.InstalledVersion(ctx)
	switch {
	case ctx.Err() != nil:
		return late(d.patience())
	case errors.Is(err, tmux.ErrNotInstalled):
		return fault(installLine("tmux"), "it is not in PATH")
	case errors.Is(err, tmux.ErrTooOld):
		return fault(installLine("tmux"), "%v", err)
	case err != nil:
		return fault(nil, "%v", err)
	}
	path, err := exec.LookPath("tmux")
	if err != nil {
		return fault(nil, "%v", err)
	}
	return fine("%s, %s", v, path)
}

// installLine is how a package is installed here; none where that isn't known.
func installLine(name string) []string {
	for _, way := range []string{"brew install", "apt-get install", "dnf install", "pacman -S", "apk add", "zypper install"} {
		program, _, _ := strings.Cut(way, " ")
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		if os.Getuid() != 0 && program != "brew" {
			way = "sudo " + way
		}
		return []string{way + " " + name}
	}
	return nil
}

// checkServer looks at the server of this shell, else at the one that a plain tmux would use. It may be older than
// the program, which then speaks to it as far as both know how.
func (d *doctor) checkServer(ctx context.Context) finding {
	if d.boxed() {
		return unseen()
	}
	socket, _, inside := tmux.FromEnv(os.Getenv("TMUX"))
	if !inside {
		socket = tmux.DefaultSocket(os.Getenv)
	}
	server, err := tmux.At(socket).ServerVersion(ctx)
	switch {
	case ctx.Err() != nil:
		return fault(nil, "%s: no answer within %v", socket, d.patience())
	case errors.Is(err, tmux.ErrNotInstalled):
		return fault(nil, "without tmux there is none")
	case err != nil && inside:
		return fault([]string{"unset TMUX TMUX_PANE"}, "TMUX names %s, which does not answer: %v", socket, err)
	case errors.Is(err, tmux.ErrNoServer) && os.Getenv("ZELLIJ") != "":
		return warning([]string{"tmux new-session -s work"}, "this is zellij; st opens its windows in tmux")
	case errors.Is(err, tmux.ErrNoServer):
		return warning([]string{"tmux new-session -s work"}, "not in tmux, and none runs at %s", socket)
	case err != nil:
		return fault(nil, "%s: %v", socket, err)
	}
	return judgeServer(ctx, server, socket, inside)
}

// unseen is said of what a sandbox hides.
func unseen() finding { return warning(nil, "it can't be seen from this sandbox") }

func judgeServer(ctx context.Context, server tmux.Version, socket string, inside bool) finding {
	client, err := tmux.InstalledVersion(ctx)
	switch {
	case !server.AtLeast(3, 2):
		return fault([]string{"tmux -S " + shellWord(socket) + " kill-server"},
			"the one at %s is %s, 3.2 or newer is needed; when its work is done, end it and begin anew", socket, server)
	case err == nil && client.Text != server.Text:
		return warning(nil, "the one at %s is %s and tmux in PATH is %s; it goes when its last session ends", socket, server, client)
	case !inside:
		return fine("%s at %s; this shell is not in it: give workers a --session", server, socket)
	}
	return fine("%s at %s", server, socket)
}

// checkTerm: within tmux agents draw what TERM promises; outside tmux attaches by it.
func checkTerm(context.Context) finding {
	kind := os.Getenv("TERM")
	inside := os.Getenv("TMUX") != ""
	switch {
	case kind == "" || kind == "dumb":
		return warning([]string{"export TERM=xterm-256color"}, "TERM is %q: tmux can't attach from here", kind)
	case inside && !strings.HasPrefix(kind, "tmux") && !strings.HasPrefix(kind, "screen"):
		return warning([]string{"tmux show-options -g default-terminal"},
			"TERM is %q within tmux, where it has to be tmux-… or screen-…: a startup file sets it", kind)
	}
	return fine("TERM is %s", kind)
}

// checkGit: st needs none to run, agents do.
func checkGit(ctx context.Context) finding {
	said, err := probe(ctx, os.Environ(), "git", "--version")
	if errors.Is(err, exec.ErrNotFound) {
		return warning(installLine("git"), "it is not in PATH; agents work with it")
	}
	if err != nil {
		return warning(nil, "git --version: %v", err)
	}
	return fine("%s", strings.TrimPrefix(lastLine(said), "git version "))
}

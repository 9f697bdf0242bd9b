package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

func init() {
	register(&verb{
		name: "complete", args: "[WORD…]", max: -1, about: "what may stand in place of the last word; for shells",
		hidden: true, raw: complete,
	})
}

// answerIn is how long a daemon may take to name workers and runs: who has pressed Tab waits for it.
const answerIn = 80 * time.Millisecond

// candidate is one thing that may be typed. Two names are orders to the shell: it shall complete files or folders.
type candidate struct{ name, about string }

var (
	anyFile   = candidate{name: ":files"}
	anyFolder = candidate{name: ":dirs"}
)

// complete prints the candidates for the last of the words that stand behind st. It fails silently: a message would
// stand in the middle of what somebody types.
func complete(words []string) int {
	if len(words) == 0 {
		words = []string{""}
	}
	out := bufio.NewWriter(os.Stdout)
	for _, c := range candidates(words[:len(words)-1], words[len(words)-1]) {
		name := clean(c.name)
		if name != c.name {
			continue // it could not be typed
		}
		if c.about != "" {
			name += "\t" + clean(c.about)
		}
		fmt.Fprintln(out, name)
	}
	if out.Flush() != nil {
		return exitFailed
	}
	return exitDone
}

func candidates(before []string, word string) []candidate {
	l := line{}
	args, wants, ended := 0, cli.Flag(nil), false
	for _, w := range before {
		switch {
		case wants != nil:
			if wants.Names()[0] == "run" {
				l.flags = []string{w}
			}
			wants = nil
		case !ended && w == "--":
			ended = true
		case !ended && strings.HasPrefix(w, "-") && len(w) > 1:
			name, value, has := strings.Cut(strings.TrimPrefix(w, "--"), "=")
			f := l.lookup(name)
			if f != nil && placeholder(f) != "" && !has {
				wants = f
			} else if name == "run" {
				l.flags = []string{value}
			}
		case l.verb == nil && l.word(w):
		default:
			args++
		}
	}
	ask := asker{run: strings.Join(l.flags, "")}
	switch name, value, joined := strings.Cut(word, "="); {
	case wants != nil:
		return fitting(ask.values(l.verb, wants), word)
	case !ended && joined && strings.HasPrefix(name, "--"):
		return prefixed(name+"=", fitting(ask.values(l.verb, l.lookup(strings.TrimPrefix(name, "--"))), value))
	case !ended && strings.HasPrefix(word, "-"):
		return fitting(l.flagNames(), word)
	case l.verb == nil && args > 0:
		return nil
	case l.verb == nil:
		return fitting(l.verbNames(), word)
	}
	return fitting(ask.arguments(l.verb, args, word), word)
}

// fitting keeps those that begin with what is typed.
func fitting(list []candidate, word string) []candidate {
	return slices.DeleteFunc(list, func(c candidate) bool {
		return c != anyFile && c != anyFolder && !strings.HasPrefix(c.name, word)
	})
}

func prefixed(prefix string, list []candidate) []candidate {
	for i, c := range list {
		if c != anyFile && c != anyFolder {
			list[i].name = prefix + c.name
		}
	}
	return list
}

func (l *line) verbNames() (list []candidate) {
	noun := strings.Join(l.words, " ")
	for _, v := range sorted() {
		name, about := v.name, v.about
		if noun == "" && v.noun != "" {
			name, about = v.noun, ""
		}
		known := slices.ContainsFunc(list, func(c candidate) bool { return c.name == name })
		if !v.hidden && !known && (noun == "" || v.noun == noun) {
			list = append(list, candidate{name, about})
		}
	}
	return list
}

func (l *line) flagNames() []candidate {
	list := []candidate{{"--help", "usage, flags and exit codes"}}
	flags := everywhere()
	if l.verb != nil {
		flags = l.verb.allFlags()
	}
	for _, f := range flags {
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		list = append(list, candidate{"--" + f.Names()[0], about})
	}
	return list
}

// asker asks a running daemon for names; where none answers in time there are none.
type asker struct{ run string }

// values are what a flag takes.
func (a asker) values(v *verb, f cli.Flag) []candidate {
	if f == nil {
		return nil
	}
	switch name := f.Names()[0]; name {
	case "agent":
		return plainly(hooks.Names())
	case "run":
		return a.runs()
	case "as":
		return a.agents()
	case "session":
		return a.sessions()
	case "types":
		return plainly(orch.EventTypes)
	case "dir":
		return []candidate{anyFolder}
	}
	switch shown := placeholder(f); {
	case shown == "FILE":
		return []candidate{anyFile}
	case strings.Contains(shown, "|"):
		return plainly(strings.Split(shown, "|"))
	}
	return nil
}

// arguments are what may stand at place n of a verb's arguments, as its usage shows them.
func (a asker) arguments(v *verb, n int, word string) (list []candidate) {
	shown := strings.Fields(v.args)
	if len(shown) == 0 || v.max >= 0 && n >= v.max {
		return nil
	}
	kind := strings.Trim(shown[min(n, len(shown)-1)], "[]…")
	if n > 0 && len(shown) == 1 && v.max >= 0 {
		return nil
	}
	for _, k := range strings.Split(kind, "|") {
		switch k {
		case "W":
			list = append(list, a.workers(word)...)
		case "R":
			list = append(list, a.runs()...)
		case "SESSION":
			list = append(list, a.sessions()...)
		default:
			if k == strings.ToLower(k) {
				list = append(list, candidate{name: k})
			}
		}
	}
	return list
}

func plainly(names []string) (list []candidate) {
	for _, n := range names {
		list = append(list, candidate{name: n})
	}
	return list
}

// get asks for a view within the time that there is.
func (a asker) get(view string, args, answer any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return false
	}
	from := daemon.FromEnv(os.Getenv)
	from.Run = a.run
	err = daemon.Glance(ctx, home, from, view, args, answer)
	var e *orch.Error
	if errors.As(err, &e) && e.Code == "no_run" && view == "workers" { // several runs: then of all of them
		return a.get(view, orch.ListArgs{All: true}, answer)
	}
	return err == nil
}

// workers are their names, and their ids where one has been begun.
func (a asker) workers(word string) (list []candidate) {
	var workers []orch.WorkerInfo
	if !a.get("workers", orch.ListArgs{}, &workers) {
		return nil
	}
	for _, w := range workers {
		about := w.Kind + ", " + w.State
		list = append(list, candidate{w.Name, w.ID + ", " + about})
		if word != "" && strings.HasPrefix(w.ID, word) {
			list = append(list, candidate{w.ID, w.Name + ", " + about})
		}
	}
	return list
}

func (a asker) runs() (list []candidate) {
	var runs []orch.RunInfo
	if !a.get("runs", orch.ListArgs{All: true}, &runs) {
		return nil
	}
	for _, r := range runs {
		list = append(list, candidate{r.ID, r.State + ": " + r.Objective})
		if r.Name != "" {
			list = append(list, candidate{r.Name, r.ID + ", " + r.State})
		}
	}
	return list
}

func (a asker) agents() (list []candidate) {
	var agents []orch.AgentInfo
	if !a.get("agents", orch.ListArgs{}, &agents) {
		return nil
	}
	for _, g := range agents {
		list = append(list, candidate{g.ID, g.Kind + " " + g.Name})
	}
	return list
}

func (a asker) sessions() (list []candidate) {
	var sessions []orch.SessionInfo
	if !a.get("sessions", nil, &sessions) {
		return nil
	}
	for _, s := range sessions {
		list = append(list, candidate{s.Name, fmt.Sprintf("session, %d windows", s.Windows)})
	}
	return list
}

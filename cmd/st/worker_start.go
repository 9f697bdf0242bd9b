package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/tmux"
)

func init() {
	register(&verb{
		noun: "worker", name: "start", about: "start an agent in a window of its own and hand it a task",
		help: "It returns when a hook of the agent has proved that the turn began, or says honestly that it has not:\n" +
			"4 where a screen blocks the agent (nothing was submitted; the task line stays owed and is typed when\n" +
			"the screen is gone), 9 where the line was typed and no hook has come. Without a run one is begun.\n" +
			"Ctrl-C ends only the waiting.",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "the kind of agent: `KIND`"},
			&cli.StringFlag{Name: "name", Usage: "what the worker and its window are called: `N`"},
			&cli.StringFlag{Name: "task", Usage: "the task, read from `FILE`"},
			&cli.StringFlag{Name: "prompt", Usage: "the task itself: `TEXT`"},
			&cli.StringFlag{Name: "dir", Usage: "the folder to work in: `D`"},
			&cli.StringFlag{Name: "session", Usage: "open the window in this session: `S`"},
			&cli.StringFlag{Name: "model", Usage: "the model: `M`, as the agent calls it"},
			&cli.StringSliceFlag{Name: "arg", Usage: "a further argument `A` for the agent; may be repeated", KeepSpace: true},
			&cli.StringSliceFlag{Name: "env", Usage: "a variable `K=V` for the agent; may be repeated", KeepSpace: true},
			&cli.DurationFlag{Name: "timeout", Usage: "how long its input line may take to come up (90s)"},
			&cli.DurationFlag{Name: "turn-timeout", Usage: "how long the proof of its turn may take (30s)"},
			&cli.BoolFlag{Name: "detach", Usage: "return as soon as the start is recorded"},
		},
		needs: []string{"agent"},
		codes: []int{exitNeedsInput, exitGone, exitRefused, exitUnknown, exitInterrupted},
		run:   workerStart,
	})
}

// startOrder is the order with what only the daemon can look up: the session by its name.
type startOrder struct {
	orch.WorkerStart
	Session string `json:"session,omitempty"`
}

func workerStart(c *call) (int, error) {
	order, kind, err := c.startOrder()
	if err != nil {
		return 0, err
	}
	if err := c.checkTerminal(); err != nil {
		return 0, err
	}
	if order.Program, err = program(kind); err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	if order.EnvFile, err = writeEnv(client.Home(), c.StringSlice("env")); err != nil {
		return 0, err
	}
	var a orch.StartAnswer
	if err := client.Do(c.ctx, uuid.NewString(), order, &a); err != nil {
		return 0, errors.Join(err, dropEnv(order.EnvFile, err))
	}
	if a.NewRun {
		c.out.note("began run %s", a.Run)
	}
	if c.Bool("detach") {
		return c.detached(client, a)
	}
	return c.followStart(client, a)
}

// dropEnv removes the environment of a start that was refused. Where no answer came, because somebody pressed
// Ctrl-C or the daemon went away, the order may have been taken and the file is still needed: the daemon removes it.
func dropEnv(path string, why error) error {
	var e *orch.Error
	if !errors.As(why, &e) || e.Code == "daemon_unreachable" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// startOrder reads flags and task.
func (c *call) startOrder() (startOrder, hooks.Kind, error) {
	order := startOrder{Session: c.String("session")}
	order.Args = c.StringSlice("arg")
	order.ReadyTimeout, order.TurnTimeout = c.Duration("timeout"), c.Duration("turn-timeout")
	texts := map[string]*string{"agent": &order.Kind, "name": &order.Name, "session": &order.Session, "model": &order.Model}
	for name, into := range texts {
		value, err := c.text(name)
		if err != nil {
			return order, nil, err
		}
		*into = value
	}
	if order.Kind == "" {
		return order, nil, c.misuse("worker start: --agent is missing; there are %s", strings.Join(hooks.Names(), ", "))
	}
	kind, err := hooks.Lookup(order.Kind)
	if err != nil {
		return order, nil, c.misuse("worker start: %v", err)
	}
	for _, name := range []string{"timeout", "turn-timeout"} {
		if c.IsSet(name) && c.Duration(name) <= 0 {
			return order, nil, c.misuse("worker start: --%s must be longer than nothing", name)
		}
	}
	if order.EnvNames, err = c.envNames(); err != nil {
		return order, nil, err
	}
	if err := c.readTask(&order); err != nil {
		return order, nil, err
	}
	order.Dir, err = folder(c.String("dir"), c.IsSet("dir"))
	return order, kind, err
}

// setBySt are the variables that tell an agent's process where it is and whose it is.
var setBySt = []string{"ST_HOME", "ST_AGENT", "TMUX", "TMUX_PANE"}

func (c *call) envNames() ([]string, error) {
	var names []string
	for _, pair := range c.StringSlice("env") {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.ContainsRune(pair, 0) {
			return nil, c.misuse("worker start: --env %s: NAME=VALUE is wanted", quoted(name))
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			return nil, c.misuse("worker start: --env %s: there is a control character in the name", quoted(name))
		}
		if slices.Contains(setBySt, name) {
			return nil, c.misuse("worker start: --env %s: st sets that one itself", quoted(name))
		}
		names = append(names, name)
	}
	return names, nil
}

// readTask takes the task from --task or --prompt.
func (c *call) readTask(order *startOrder) error {
	switch {
	case c.IsSet("task") && c.IsSet("prompt"):
		return c.misuse("worker start: --task and --prompt exclude each other")
	case !c.IsSet("task") && !c.IsSet("prompt"):
		return c.misuse("worker start: --task or --prompt is missing")
	case c.IsSet("prompt"):
		order.Spec = c.String("prompt")
		if strings.TrimSpace(order.Spec) == "" {
			return c.misuse("worker start: --prompt is empty")
		}
		if why := unfit(order.Spec); why != "" {
			return c.misuse("worker start: --prompt: %s", why)
		}
		return nil
	}
	path, err := filepath.Abs(c.String("task"))
	if err != nil {
		return err
	}
	if c.String("task") == "" {
		return c.misuse("worker start: --task is empty")
	}
	if order.Spec, err = readText(path); err != nil {
		return err
	}
	order.Source = path
	if strings.TrimSpace(order.Spec) == "" {
		return &orch.Error{Code: "bad_task", Message: "file " + quoted(path) + ": it is empty", Hint: "write the task into it"}
	}
	return nil
}

// folder is where the worker works: an absolute path of a folder that is there.
func folder(given string, set bool) (string, error) {
	if !set {
		dir, err := os.Getwd()
		if err != nil {
			return "", &orch.Error{Code: "bad_dir", Message: "the current folder is gone: " + reason(err), Next: []string{"cd"}}
		}
		return dir, nil
	}
	bad := func(why string) error {
		return &orch.Error{Code: "bad_dir", Message: "folder " + quoted(given) + ": " + why}
	}
	dir, err := filepath.Abs(given)
	if err != nil {
		return "", bad(reason(err))
	}
	info, err := os.Stat(dir)
	switch {
	case given == "":
		return "", bad("the name is empty")
	case err != nil:
		return "", bad(reason(err))
	case !info.IsDir():
		return "", bad("not a folder")
	}
	return dir, nil
}

// checkTerminal refuses a start where there is no multiplexer to open a window in.
func (c *call) checkTerminal() error {
	inside, session := os.Getenv("TMUX") != "", c.String("session")
	if !inside && session == "" && os.Getenv("ZELLIJ") != "" {
		return &orch.Error{
			Code: "zellij", Message: "this is zellij; st opens its windows in tmux",
			Hint: "start tmux, in zellij or outside, and work there", Next: []string{"tmux new-session -s work"},
		}
	}
	if _, err := tmux.InstalledVersion(c.ctx); err != nil {
		return daemon.TmuxFault(err)
	}
	if !inside && session == "" {
		return &orch.Error{
			Code: "not_in_tmux", Message: "not in tmux, and no --session says where the window belongs",
			Next: []string{"tmux new-session -s work", "st worker start --session NAME …"},
		}
	}
	return nil
}

// program finds the agent's program in the caller's PATH.
func program(kind hooks.Kind) (string, error) {
	name := kind.Program()
	if name == "" {
		return os.Executable()
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &orch.Error{
			Code:    "agent_not_installed",
			Message: fmt.Sprintf("agent %s: its program %q is not in PATH", kind.Name(), name),
			Hint:    fmt.Sprintf("install %s so that typing %q in this shell starts it", kind.Name(), name),
		}
	}
	return filepath.Abs(path)
}

// detached answers before anything has settled.
func (c *call) detached(client *daemon.Client, a orch.StartAnswer) (int, error) {
	if c.out.json {
		var info orch.StartInfo
		if err := client.Get(c.ctx, "start", orch.StartArgs{Dispatch: a.Dispatch}, &info); err != nil {
			return 0, err
		}
		return exitDone, c.out.data(info)
	}
	return exitDone, c.out.say("starting worker %s %s in %s: task %s, dispatch %s; st worker wait %s tells how it goes",
		a.Worker, quoted(a.Name), a.Run, a.Task, a.Dispatch, a.Worker)
}

// followStart waits until it is known what became of the start.
func (c *call) followStart(client *daemon.Client, a orch.StartAnswer) (int, error) {
	var info orch.StartInfo
	told, asked := 0, ""
	err := c.watch(c.ctx, client, "start", orch.StartArgs{Dispatch: a.Dispatch}, func(raw json.RawMessage) (bool, error) {
		info = orch.StartInfo{} // a key that a later line leaves out must not stay
		if err := json.Unmarshal(raw, &info); err != nil {
			return false, err
		}
		told = c.out.stages(info, told)
		asked = c.out.asks(info.Worker, asked)
		return info.Delivery == "", nil
	})
	switch {
	case errors.Is(c.ctx.Err(), context.Canceled):
		return 0, &orch.Error{
			Code: "interrupted", Message: fmt.Sprintf("stopped waiting; the start of worker %s goes on", a.Worker),
			Next: []string{"st worker show " + a.Worker, "st worker stop " + a.Worker},
		}
	case err != nil:
		return 0, err
	case info.Error != nil || info.Code == exitGone:
		return 0, startFault(info)
	case c.out.json:
		return info.Code, c.out.data(info)
	}
	return info.Code, c.out.started(info)
}

// startFault is a start that came to nothing: no window, or an agent that ended.
func startFault(info orch.StartInfo) error {
	e := &orch.Error{
		Code:    "agent_exited",
		Message: fmt.Sprintf("worker %s ended during its start, task %s was not delivered", named(info.Worker), info.Task),
	}
	if info.Error != nil {
		told := *info.Error
		e = &told
	}
	e.Data = info
	if len(e.Next) == 0 {
		e.Next = info.Next
	}
	return e
}

// stages shows which stage the start has reached, and answers how many have been shown.
func (p *printer) stages(info orch.StartInfo, told int) int {
	reached := 0
	for _, s := range info.Stages {
		if !s.OK {
			continue
		}
		if reached++; reached > told {
			p.progress("  %s after %s", s.Name, seconds(s.MS))
		}
	}
	return max(reached, told)
}

// asks tells a person at once of a screen that holds the start up, which may take until the time is over, and
// answers what has been told.
func (p *printer) asks(w orch.WorkerInfo, told string) string {
	if w.WaitingFor != "" && w.WaitingFor != told {
		p.progress("  it waits (%s): answer it in window %s of session %s", w.WaitingFor, w.Window, w.Session)
		if w.Waits != "" {
			p.progress("  %s", clean(w.Waits))
		}
	}
	return w.WaitingFor
}

// started says what became of the start.
func (p *printer) started(info orch.StartInfo) error {
	w := info.Worker
	ids := fmt.Sprintf("%s in %s: task %s, dispatch %s", named(w), info.Run, info.Task, info.Dispatch)
	switch info.Delivery {
	case orch.Delivered:
		if err := p.say("started worker %s, turn proved after %s", ids, turnTime(info)); err != nil {
			return err
		}
	case orch.Unknown:
		err := p.say("worker %s: its line was typed, but no hook has proved the turn: %s", ids, p.style(p.styles.warn, "unknown"))
		if err != nil {
			return err
		}
		p.note("a later turn or report settles it; without hooks st can't know")
	case orch.NotDelivered:
		err := p.say("worker %s: %s, %s; its window %s is left as it is",
			ids, p.style(p.styles.warn, "not delivered"), blocked(info), w.Window)
		if err != nil {
			return err
		}
		if len(info.LeftOver) == 0 {
			p.note("nothing was submitted; the task line is typed as soon as its input line is free")
		}
	}
	for _, left := range info.LeftOver {
		p.note("left over: %s", left)
	}
	for _, next := range info.Next {
		p.note("  %s", next)
	}
	return nil
}

// blocked says what kept the line from being typed.
func blocked(info orch.StartInfo) string {
	switch info.Screen {
	case "":
		return "its input line did not come up"
	case "starting":
		return "it was still starting"
	case "busy", "working":
		return "its input line was not free"
	case "draft":
		return "a draft stands in its input line"
	case "copy_mode":
		return "its pane is in copy mode"
	}
	return "screen " + info.Screen
}

func seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }

func turnTime(info orch.StartInfo) string {
	for _, s := range info.Stages {
		if s.Name == "turn" && s.OK {
			return seconds(s.MS)
		}
	}
	return "an unknown time"
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/worktree"
	"st/tmux"
)

var workerStartVerb = &verb{
	noun: "worker", name: "start", about: "start an agent in a window of its own and hand it a task",
	help: "It returns when a hook of the agent has proved that the turn began, or says honestly that it has not:\n" +
		"4 where a screen blocks the agent (nothing was submitted; the task line stays owed and is typed when\n" +
		"the screen is gone) or its session has ended with its tmux server (the start goes on once that is back),\n" +
		"9 where the line was typed and no hook has come. Without a run one is begun.\n" +
		"With --scope it may edit only what the patterns match, relative to its folder: the last that matches a path counts, one\n" +
		"with ! takes out, and one that matches a folder matches all in it. Its hooks refuse what is outside; what slips through,\n" +
		"by a script or typed into a program that runs (Codex can, and no hook sees it), is found by git when it reports. Quote\n" +
		"the patterns: --scope 'api/**' --scope '!api/gen/**'.\n" +
		"Where config.toml sets max_workers and so many are unsettled, the start waits in line for its window\n" +
		"(state queued). --timeout counts from the window on. Ctrl-C ends only the waiting.\n" +
		"With --worktree it works in a git worktree of its own, on a branch of its own, begun at --base, else at what is\n" +
		"checked out in the folder. The worktree lies beside the repository, or where worktrees in config.toml says; files\n" +
		"that git ignores and " + worktree.IncludeFile + " names are copied into it. It stays until st worker finish or st gc.\n" +
		"--setup runs in it before the agent begins, in sh, with ST_REPO naming the working tree that it comes from.\n" +
		"Under --request the same start is one that has the same kind, name, task text,\n" +
		"folder, worktree, session, model, --arg, --scope and --env: then it waits for the worker that there is.",
	flags: func() []cli.Flag {
		return append([]cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "the task, read from `FILE`"},
			&cli.StringFlag{Name: "task-id", Usage: "a task that is there and ready: `T`"},
			&cli.StringFlag{Name: "prompt", Usage: "the task itself: `TEXT`"},
			&cli.BoolFlag{Name: "detach", Usage: "return as soon as the start is recorded"},
		}, launchFlags()...)
	},
	needs: []string{"agent"},
	codes: []int{exitNeedsInput, exitGone, exitRefused, exitUnknown, exitInterrupted},
	sends: orch.WorkerStart{},
	run:   workerStart,
}

func init() { register(workerStartVerb) }

func workerStart(c *call) (int, error) {
	order, kind, err := c.startOrder()
	if err != nil {
		return 0, err
	}
	order.Program, err = c.ready(kind)
	if err != nil && !c.taken() {
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
	if err := c.orderStart(client, order, &a, order.EnvFile); err != nil {
		return 0, err
	}
	if a.NewRun {
		c.out.note("began run %s", a.Run)
	}
	if c.Bool("detach") {
		return c.detached(client, a)
	}
	return c.followStart(client, a)
}

// ready finds the agent's program, and refuses a start where there is none or no multiplexer.
func (c *call) ready(kind hooks.Kind) (path string, err error) {
	if err := c.checkTerminal(); err != nil {
		return "", err
	}
	return program(kind)
}

// taken tells whether the request was taken before: then nothing is needed any more to do it.
func (c *call) taken() bool {
	return c.IsSet("request") && c.get("request", orch.RequestArgs{Request: c.request}, nil) == nil
}

// startOrder reads flags and task.
func (c *call) startOrder() (daemon.StartOrder, hooks.Kind, error) {
	var order daemon.StartOrder
	kind, err := c.launchOrder(&order)
	if err != nil {
		return order, nil, err
	}
	return order, kind, c.readTask(&order)
}

// setBySt are the variables that tell an agent's process where it is and whose it is.
var setBySt = []string{"ST_HOME", "ST_AGENT", "TMUX", "TMUX_PANE", hooks.ScopeEnv}

func (c *call) envNames() ([]string, error) {
	var names []string
	for _, pair := range c.StringSlice("env") {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.ContainsRune(pair, 0) {
			return nil, c.misuse("%s: --env %s: NAME=VALUE is wanted", c.verb.path(), quoted(name))
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			return nil, c.misuse("%s: --env %s: there is a control character in the name", c.verb.path(), quoted(name))
		}
		if slices.Contains(setBySt, name) {
			return nil, c.misuse("%s: --env %s: st sets that one itself", c.verb.path(), quoted(name))
		}
		names = append(names, name)
	}
	return names, nil
}

// readTask takes the task from --task or --prompt, or the id of one that is there.
func (c *call) readTask(order *daemon.StartOrder) (err error) {
	if !c.IsSet("task-id") {
		order.Spec, order.Source, err = c.readSpec("prompt", "task")
		return err
	}
	if c.IsSet("task") || c.IsSet("prompt") {
		return c.misuse("worker start: --task-id excludes --task and --prompt")
	}
	order.Task, err = c.text("task-id")
	return err
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
	var info orch.StartInfo
	if err := client.Get(c.ctx, "start", orch.StartArgs{Dispatch: a.Dispatch}, &info); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(info)
	}
	c.out.overlaps(info)
	does := "starting"
	if a.Queued > 0 {
		does = inLine(a.Queued) + ":"
	}
	return exitDone, c.out.say("%s worker %s %s in %s: task %s, dispatch %s; st worker wait %s tells how it goes",
		does, a.Worker, quoted(a.Name), a.Run, a.Task, a.Dispatch, a.Worker)
}

// followStart waits until it is known what became of the start.
func (c *call) followStart(client *daemon.Client, a orch.StartAnswer) (int, error) {
	var info orch.StartInfo
	told, asked, made, place, first := 0, "", "", 0, true
	err := c.watch(c.ctx, client, "start", orch.StartArgs{Dispatch: a.Dispatch}, func(raw json.RawMessage) (bool, error) {
		info = orch.StartInfo{} // a key that a later line leaves out must not stay
		if err := json.Unmarshal(raw, &info); err != nil {
			return false, err
		}
		if first {
			c.out.overlaps(info)
			first = false
		}
		place = c.out.queue(info, place)
		told = c.out.stages(info, told)
		made = c.out.makes(info.Worker, made)
		asked = c.out.asks(info.Worker, asked)
		return info.Delivery == "" && info.Worker.Sessionless == "", nil // nobody knows whether its session comes back
	})
	switch {
	case errors.Is(c.ctx.Err(), context.Canceled):
		if info.Worker.ID == "" {
			place = a.Queued // nothing was heard of it since
		}
		return 0, leftStarting(a, place)
	case err != nil:
		return 0, err
	case info.Error != nil || info.Code == exitGone:
		info.Code = fail(c.out, startFault(info))
	case c.out.json:
		err = c.out.data(info)
	default:
		err = c.out.started(info)
	}
	if err == nil {
		c.toldNews(client, info.New)
	}
	return info.Code, err
}

// leftStarting says what becomes of a start that nobody waits for any more.
func leftStarting(a orch.StartAnswer, place int) error {
	e := &orch.Error{
		Code: "interrupted", Message: fmt.Sprintf("stopped waiting; the start of worker %s goes on", a.Worker),
		Next: []string{"st worker show " + a.Worker, "st worker stop " + a.Worker},
	}
	if place > 0 {
		e.Message = fmt.Sprintf("stopped waiting; worker %s stays in line (%s)", a.Worker, ordinal(place))
	}
	return e
}

// startFault is a start that came to nothing: no window, or an agent that ended.
func startFault(info orch.StartInfo) error {
	e := &orch.Error{
		Code:    "agent_exited",
		Message: fmt.Sprintf("worker %s ended during its start, task %s was not delivered", named(info.Worker), info.Task),
	}
	switch {
	case info.Worker.State == "gone_resumable":
		e.Message = fmt.Sprintf("the terminals were closed while worker %s was starting; whether it has task %s is told when its conversation is taken up again", named(info.Worker), info.Task)
	case !reached(info, "window"):
		e.Message = fmt.Sprintf("worker %s was stopped before it had a window, task %s was not delivered", named(info.Worker), info.Task)
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

// queue says what a start waits for, and on a terminal how the line goes on; it answers the place that was told.
func (p *printer) queue(info orch.StartInfo, told int) int {
	switch {
	case info.Queued == told, info.Worker.Sessionless != "":
	case info.Queued == 0:
		p.progress("its turn has come")
	case told == 0:
		p.note("queued: %s (max_workers = %d); who has the places: st worker ls --all", ahead(info.Queued), info.MaxWorkers)
	default:
		p.progress("queued: %s", ahead(info.Queued))
	}
	return info.Queued
}

// ahead says who comes before a place in line.
func ahead(place int) string {
	if place == 1 {
		return "next in line"
	}
	return fmt.Sprintf("%d before it", place-1)
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

// makes tells what a start waits for before it has a window, and answers what has been told.
func (p *printer) makes(w orch.WorkerInfo, told string) string {
	now := ""
	switch {
	case w.Pane != "":
	case w.TreeState == "making":
		now = "git makes its worktree"
	case w.Setup == "running":
		now = "its --setup runs: " + clean(w.SetupLog)
	}
	if now != "" && now != told {
		p.progress("  %s (Ctrl-C ends only the waiting)", now)
	}
	return now
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

// overlaps tells of the live workers that may edit a file which the new one may edit too.
func (p *printer) overlaps(info orch.StartInfo) {
	for _, o := range info.Overlaps {
		p.note("its scope may meet that of worker %s %s, which is live: %s, in %s", o.Worker, quoted(o.Name), clean(strings.Join(o.Scope, " ")), o.Dir)
	}
}

// started says what became of the start.
func (p *printer) started(info orch.StartInfo) error {
	w := info.Worker
	ids := fmt.Sprintf("%s in %s: task %s, dispatch %s", named(w), info.Run, info.Task, info.Dispatch)
	switch info.Delivery {
	case orch.Pending:
		err := p.say("worker %s: %s, session %s has ended with its tmux server; the start goes on once it is back",
			ids, p.style(p.styles.warn, "no window yet"), quoted(w.Sessionless))
		if err != nil {
			return err
		}
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
	if w.Worktree != "" {
		p.note("worktree %s, branch %s from %.12s", w.Worktree, w.Branch, w.Base)
	}
	for _, left := range info.LeftOver {
		p.note("left over: %s", left)
	}
	if info.Unheard != "" {
		p.note("no hook of agent %s has come yet; where none is installed (st hooks status) it is not told how this goes on and has to wait", info.Unheard)
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

// reached tells whether a start has come to a stage.
func reached(info orch.StartInfo, stage string) bool {
	return slices.ContainsFunc(info.Stages, func(s orch.Stage) bool { return s.Name == stage && s.OK })
}

func turnTime(info orch.StartInfo) string {
	for _, s := range info.Stages {
		if s.Name == "turn" && s.OK {
			return seconds(s.MS)
		}
	}
	return "an unknown time"
}

package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

var taskCreateVerb = &verb{
	noun: "task", name: "create", about: "make a task, which may wait for others",
	help: "It is ready when all of --deps are completed, and blocked while one of them has failed. Then a worker takes it:\n" +
		"st worker start --task-id T, st task assign T W, or by itself with --auto: the kind, folder, session and environment\n" +
		"are those of now. After a failure the next worker is started, until three in a row have failed.\n" +
		"With --attempts K workers try it beside each other, each in a worktree of its own, of the kinds that --agent lists in\n" +
		"turn. --check runs in each worktree once its worker has reported, in sh. See them with st task attempts T; the task is\n" +
		"settled, and those that wait for it go on, when one is picked: st task pick T W.",
	flags: func() []cli.Flag {
		return append([]cli.Flag{
			&cli.StringFlag{Name: "spec", Usage: "the task itself: `TEXT`"},
			&cli.StringFlag{Name: "file", Usage: "the task, read from `FILE`"},
			&cli.StringFlag{Name: "title", Usage: "what it is called in lists: `TEXT`; else its first line"},
			&cli.StringFlag{Name: "deps", Usage: "tasks of the same run that have to be completed before: `T1,T2`"},
			&cli.IntFlag{Name: "attempts", Usage: "have `N` workers try it, each in a worktree of its own"},
			&cli.StringFlag{Name: "check", Usage: "run `CMD` in the worktree of each attempt after its report"},
			&cli.BoolFlag{Name: "auto", Usage: "start a worker as soon as it is ready; the flags below say how"},
		}, launchFlags()...)
	},
	codes: []int{exitRefused},
	sends: orch.TaskCreate{},
	run:   taskCreate,
}

func init() { register(taskCreateVerb) }

func taskCreate(c *call) (int, error) {
	order, err := c.taskOrder()
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var envFiles []string
	for _, s := range order.starts() {
		if s.EnvFile, err = writeEnv(client.Home(), c.StringSlice("env")); err != nil {
			return 0, err
		}
		envFiles = append(envFiles, s.EnvFile)
	}
	var a orch.TaskAnswer
	if err := c.orderStart(client, order.TaskOrder, &a, envFiles...); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"task": a.Task})
	}
	return exitDone, c.out.created(a.Task)
}

// taskOrder is the order that makes a task.
type taskOrder struct{ daemon.TaskOrder }

// starts are the starts that it orders.
func (o *taskOrder) starts() (all []*daemon.StartOrder) {
	if o.Start != nil {
		all = append(all, o.Start)
	}
	for i := range o.Tries {
		all = append(all, &o.Tries[i])
	}
	return all
}

func (c *call) taskOrder() (taskOrder, error) {
	var order taskOrder
	var err error
	if order.Title, err = c.text("title"); err != nil {
		return order, err
	}
	if order.Spec, order.Source, err = c.readSpec("spec", "file"); err != nil {
		return order, err
	}
	for _, id := range strings.Split(c.String("deps"), ",") {
		if id = strings.TrimSpace(id); id != "" {
			order.Deps = append(order.Deps, id)
		}
	}
	if c.IsSet("deps") && len(order.Deps) == 0 {
		return order, c.misuse("task create: --deps is empty")
	}
	if c.IsSet("attempts") || c.IsSet("check") {
		order.Tries, err = c.tries()
		order.Check = c.String("check")
		return order, err
	}
	if !c.Bool("auto") {
		for _, f := range launchFlags() {
			if name := f.Names()[0]; c.IsSet(name) {
				return order, c.misuse("task create: --%s says how a worker is started, and goes with --auto", name)
			}
		}
		return order, nil
	}
	start := daemon.StartOrder{}
	kind, err := c.launchOrder(&start)
	if err != nil {
		return order, err
	}
	if start.Program, err = c.ready(kind); err != nil && !c.taken() {
		return order, err
	}
	order.Start = &start
	return order, nil
}

// readSpec takes a task's text from one of two flags, the second a file's name, whose path is told too.
func (c *call) readSpec(text, file string) (spec, source string, err error) {
	verb := c.verb.path()
	switch {
	case c.IsSet(text) && c.IsSet(file):
		return "", "", c.misuse("%s: --%s and --%s exclude each other", verb, file, text)
	case !c.IsSet(text) && !c.IsSet(file):
		return "", "", c.misuse("%s: --%s or --%s is missing", verb, file, text)
	case c.IsSet(text):
		spec = c.String(text)
		if strings.TrimSpace(spec) == "" {
			return "", "", c.misuse("%s: --%s is empty", verb, text)
		}
		if why := unfit(spec); why != "" {
			return "", "", c.misuse("%s: --%s: %s", verb, text, why)
		}
		return spec, "", nil
	case c.String(file) == "":
		return "", "", c.misuse("%s: --%s is empty", verb, file)
	}
	if source, err = filepath.Abs(c.String(file)); err != nil {
		return "", "", err
	}
	if spec, err = readText(source); err != nil {
		return "", "", err
	}
	if strings.TrimSpace(spec) == "" {
		return "", "", &orch.Error{Code: "bad_task", Message: "file " + quoted(source) + ": it is empty", Hint: "write the task into it"}
	}
	return spec, source, nil
}

// launchFlags say how a worker is started.
func launchFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "the kind of agent: `KIND`"},
		&cli.StringFlag{Name: "dir", Usage: "the folder to work in: `D`"},
		&cli.StringFlag{Name: "model", Usage: "the model: `M`, as the agent calls it"},
		&cli.StringSliceFlag{Name: "scope", Usage: "files it may edit: `GLOB`, or '!GLOB' for files it may not; may be repeated", KeepSpace: true},
		&cli.StringSliceFlag{Name: "arg", Usage: "a further argument `A` for the agent; may be repeated", KeepSpace: true},
	}, append(treeFlags(), placeFlags()...)...)
}

// placeFlags say where a worker is started, in which environment, and how long that may take.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "what the worker and its window are called: `N`"},
		&cli.StringFlag{Name: "session", Usage: "open the window in this session: `S`"},
		&cli.StringSliceFlag{Name: "env", Usage: "a variable `K=V` for the agent; may be repeated", KeepSpace: true},
		&cli.DurationFlag{Name: "timeout", Usage: "how long its input line may take to come up (90s)"},
		&cli.DurationFlag{Name: "turn-timeout", Usage: "how long the proof of its turn may take (30s)"},
	}
}

// launchOrder reads the flags that say how a worker is started.
func (c *call) launchOrder(order *daemon.StartOrder) (hooks.Kind, error) {
	if err := c.placeOrder(order); err != nil {
		return nil, err
	}
	order.Args = c.StringSlice("arg")
	scope, refusal := orch.ReadScope(c.StringSlice("scope"))
	if refusal != nil {
		return nil, refusal
	}
	order.Scope = scope
	for name, into := range map[string]*string{"agent": &order.Kind, "model": &order.Model} {
		value, err := c.text(name)
		if err != nil {
			return nil, err
		}
		*into = value
	}
	if order.Kind == "" {
		return nil, c.misuse("%s: --agent is missing; there are %s", c.verb.path(), strings.Join(slices.Concat(hooks.Names(), hooks.GivenNames()), ", "))
	}
	kind, err := hooks.Fresh(order.Kind)
	if refusal := (*orch.Error)(nil); errors.As(err, &refusal) {
		return nil, refusal
	}
	if err != nil {
		return nil, c.misuse("%s: %v", c.verb.path(), err)
	}
	if order.Dir, err = folder(c.String("dir"), c.IsSet("dir")); err != nil {
		return kind, err
	}
	order.Tree, err = c.treeWant()
	return kind, err
}

// placeOrder reads the flags that say where a worker is started, in which environment, and how long that may take.
func (c *call) placeOrder(order *daemon.StartOrder) (err error) {
	for name, into := range map[string]*string{"name": &order.Name, "session": &order.Session} {
		if *into, err = c.text(name); err != nil {
			return err
		}
	}
	order.ReadyTimeout, order.TurnTimeout = c.Duration("timeout"), c.Duration("turn-timeout")
	for _, name := range []string{"timeout", "turn-timeout"} {
		if c.IsSet(name) && c.Duration(name) <= 0 {
			return c.misuse("%s: --%s must be longer than nothing", c.verb.path(), name)
		}
	}
	if order.EnvNames, err = c.envNames(); err != nil {
		return err
	}
	order.Env, err = daemon.Veil(c.request, c.StringSlice("env"))
	return err
}

// created says what became of a task that was made.
func (p *printer) created(t orch.TaskInfo) error {
	if err := p.say("created task %s in %s: %s", t.ID, t.Run, p.taskState(t)); err != nil {
		return err
	}
	switch {
	case t.Status == "dispatched":
		p.note("  st worker wait %s", t.Worker)
	case t.Status == "ready":
		p.note("  st worker start --task-id %s --agent KIND", t.ID)
	case len(t.Tries) > 0:
		p.note("its attempts are %s; once they have reported:", strings.Join(t.Tries, ", "))
		p.note("  st task attempts %s", t.ID)
	case t.Auto:
		p.note("a worker is started as soon as it is ready")
	}
	return nil
}

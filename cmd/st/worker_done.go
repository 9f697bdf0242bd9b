package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/failpoint"
)

var workerDoneVerb = &verb{
	noun: "worker", name: "done", about: "a worker reports that its task has ended",
	help: "For workers. The same report twice is taken once; one that comes too late is kept as a note.\n" +
		"Who coordinates a run of its own reports for all of it: refused (7) while its workers are not settled,\n" +
		"unless --leave-workers says that they may go on.\n" +
		"Where the daemon can't be reached the report is queued and taken as soon as one runs.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "summary", Usage: "what was done and how it was checked: `TEXT`"},
			&cli.StringFlag{Name: "outcome", Usage: "how the task has ended: `succeeded|failed`", Value: "succeeded"},
			&cli.StringFlag{Name: "files", Usage: "files that were changed: `A,B`"},
			&cli.StringFlag{Name: "report", Usage: "a longer report, read from `FILE` (at most 1 MiB)"},
			&cli.StringFlag{Name: "dispatch", Usage: "the dispatch `D` that is meant; else the newest"},
			&cli.BoolFlag{Name: "leave-workers", Usage: "the workers of your own run may go on without you"},
		}
	},
	needs: []string{"summary"},
	codes: []int{exitRefused},
	sends: orch.WorkerDone{},
	run:   workerDone,
}

func init() { register(workerDoneVerb) }

// textMax is how long a task, a summary or a report may be, in bytes.
const textMax = 1 << 20

func workerDone(c *call) (int, error) {
	order, err := c.doneOrder()
	if err != nil {
		return 0, err
	}
	var a orch.DoneAnswer
	queued, err := c.report(order, &a)
	if err != nil {
		return 0, err
	}
	if queued {
		a = orch.DoneAnswer{Dispatch: order.Dispatch, Outcome: order.Outcome, Taken: "queued", Why: c.ifWorker()}
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	return exitDone, c.out.doneSaid(a)
}

func (c *call) doneOrder() (orch.WorkerDone, error) {
	order := orch.WorkerDone{Outcome: c.String("outcome"), Summary: c.String("summary"), LeaveWorkers: c.Bool("leave-workers")}
	switch {
	case strings.TrimSpace(order.Summary) == "":
		return order, c.misuse("worker done: --summary is missing or empty")
	case len(order.Summary) > textMax:
		return order, c.misuse("worker done: --summary has %d bytes, at most %d are taken; put it into a file: --report FILE", len(order.Summary), textMax)
	case order.Outcome != "succeeded" && order.Outcome != "failed":
		return order, c.misuse("worker done: --outcome is succeeded or failed, not %q", order.Outcome)
	}
	var err error
	if order.Dispatch, err = c.text("dispatch"); err != nil {
		return order, err
	}
	for _, f := range strings.Split(c.String("files"), ",") {
		if f = strings.TrimSpace(f); f != "" {
			order.Files = append(order.Files, f)
		}
	}
	if c.IsSet("report") {
		if err := mayReport(c.String("report")); err != nil {
			return order, err
		}
		order.Text, err = readText(c.String("report"))
	}
	return order, err
}

// mayReport holds an agent to files below its folder: it may run this verb without asking anybody, and so the
// verb must not read for it what it would have to ask for.
func mayReport(path string) error {
	if hooks.Inside(os.Environ()) == "" || os.Getenv(hooks.ScopeEnv) != "" && ownReport(path) {
		return nil
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil { // else reading it will say what is wrong
		abs = real
	}
	if rel, err := filepath.Rel(here, abs); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return &orch.Error{Code: "refused_agent", Message: "file " + quoted(path) + ": an agent reports only files below the folder it works in", Hint: "write the report into a file there, or put it into --summary"}
}

// ownReport tells that a path is where the task copy of a worker with a scope lets it write a long report: a plain file of
// its own in the system's folder for temporary files.
func ownReport(path string) bool {
	if ok, err := filepath.Match("/tmp/st-report-d*.md", filepath.Clean(path)); err != nil || !ok {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// report gives an order that must not get lost: where no daemon can take it, it goes into the spool.
func (c *call) report(what orch.What, answer any) (queued bool, err error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return false, err
	}
	if !daemon.Exists(home) {
		// Made anew it would only hold a report that nobody has asked for.
		return false, &orch.Error{Code: "not_yours", Message: "no worker was ever started in " + home + ", so none can report there"}
	}
	ctx, cancel := context.WithTimeout(c.ctx, doneTime)
	defer cancel()
	client, err := daemon.Connect(ctx, home, c.from(), true)
	if err == nil {
		err = client.Do(ctx, c.request, what, answer)
	}
	if err == nil || c.ctx.Err() != nil || !outOfReach(err) {
		return false, err
	}
	failpoint.At("report.spool.before")
	return true, daemon.Spool(home, c.request, what.Type(), c.from(), what)
}

// ifWorker says on what it hangs that something queued counts, "" for the caller that st has started: whether another is a
// worker, as one that was adopted, only the daemon knows.
func (c *call) ifWorker() string {
	if c.from().Nonce != "" {
		return ""
	}
	return "it counts only if this agent is a worker"
}

// queuedSaid says that something was queued, and why it may not count.
func queuedSaid(why string) string {
	text := "queued: the daemon can't be reached just now; it is taken as soon as one runs"
	if why != "" {
		text += ", and " + strings.TrimPrefix(why, "it ")
	}
	return text
}

// doneTime is how long a report waits for the daemon before it is queued.
const doneTime = 10 * time.Second

// outOfReach tells that no daemon has judged what it was sent.
func outOfReach(err error) bool {
	var e *orch.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &e) && exitOf(e.Code) == exitUnreachable
}

func (p *printer) doneSaid(a orch.DoneAnswer) error {
	switch a.Taken {
	case "queued":
		return p.say("%s", queuedSaid(a.Why))
	case "again":
		return p.say("nothing to do: worker %s %s had reported this for %s", a.Worker, quoted(a.Name), a.Dispatch)
	case "note":
		return p.say("kept as a note of worker %s %s: %s", a.Worker, quoted(a.Name), a.Why)
	}
	return p.say("reported %s for worker %s %s, dispatch %s", a.Outcome, a.Worker, quoted(a.Name), a.Dispatch)
}

// readText reads a file that becomes part of the record. What is no text, or too long, is bad_task.
func readText(path string) (string, error) {
	bad := func(why string) error {
		return &orch.Error{Code: "bad_task", Message: "file " + quoted(path) + ": " + why, Hint: "a file of at most 1 MiB of UTF-8 text is taken"}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // what a file may hold is no help here
		return "", &orch.Error{
			Code: "bad_task", Message: "file " + quoted(path) + ": " + reason(err),
			Hint: "see what is in that folder:", Next: []string{"ls " + shellWord(filepath.Dir(path))},
		}
	case err != nil:
		return "", bad(reason(err))
	case info.IsDir():
		return "", bad("it is a folder")
	case !info.Mode().IsRegular():
		return "", bad("it is not a file") // opening a pipe that nobody writes to would wait for ever
	}
	f, err := os.Open(path)
	if err != nil {
		return "", bad(reason(err))
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, textMax+1))
	if err != nil {
		return "", bad(reason(err))
	}
	if why := unfit(string(raw)); why != "" {
		return "", bad(why)
	}
	return string(raw), nil
}

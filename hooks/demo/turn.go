//go:build unix

package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// turn is the work on one prompt and those that join it. Its fields belong to the loop.
type turn struct {
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time
	prompt  string
	branch  string            // where the conversation stood before it
	taken   []string          // what has reached the model since, until something is shown
	output  bool              // something has been shown
	tool    bool              // a tool runs
	joining int               // prompts whose hook has not answered yet
	closing bool              // its stop hook runs: what comes now is a turn of its own
	beside  map[string]string // what a hook has said beside a prompt that joined
	wanting chan []string
}

var (
	errStopped = errors.New("stopped")
	errFailed  = errors.New("failed")
	errAsked   = errors.New("asked") // and not answered yet
)

// accept gives a prompt to the running turn, or begins one.
func (a *agent) accept(text string) {
	switch {
	case a.busy || a.turn != nil && a.turn.closing:
		a.held = append(a.held, text)
	case a.turn != nil:
		a.queued = append(a.queued, text)
		a.turn.joining++
		go a.join(a.turn, text)
	default:
		a.begin(text)
	}
}

func (a *agent) begin(text string) {
	if a.o.Nasty.on("hang") {
		a.draw()
		// Signals have a handler, so only a kill ends this.
		select {}
	}
	t := &turn{began: time.Now(), prompt: text, branch: a.branch(), beside: map[string]string{}}
	t.ctx, t.cancel = context.WithCancel(a.ctx)
	a.turn = t
	a.show(Mark + text)
	a.idMu.Lock()
	a.promptID = uuid.NewString()
	a.idMu.Unlock()
	go a.work(t, text)
}

// join tells a queued prompt to the hooks at once; the turn takes it at its next pause.
func (a *agent) join(t *turn, text string) {
	said := a.promptIn(t, text)
	a.inTurn(t, func() {
		t.joining--
		if said.Block {
			a.blocked(text, said.Reason)
			a.unqueue(text)
		} else if said.Context != "" {
			t.beside[text] = said.Context
		}
		a.settle(t)
	})
}

func (a *agent) unqueue(text string) {
	for i, q := range a.queued {
		if q == text {
			a.queued = append(a.queued[:i:i], a.queued[i+1:]...)
			return
		}
	}
}

// promptIn runs the prompt hooks.
func (a *agent) promptIn(t *turn, text string) answer {
	if !a.pause(t.ctx, a.o.Nasty.wait("late-hook", time.Second)) {
		return answer{}
	}
	return a.fire(t.ctx, "UserPromptSubmit", "", map[string]any{"prompt": text})
}

func (a *agent) blocked(text, reason string) {
	a.show("UserPromptSubmit operation blocked by hook: " + reason)
	if a.box.empty() {
		a.box.set(text)
	}
}

// inTurn lets the loop run f, unless the turn is over.
func (a *agent) inTurn(t *turn, f func()) bool {
	live := false
	a.do(func() {
		if a.turn == t {
			live = true
			f()
		}
	})
	return live
}

// settle answers a turn that asks for what has joined it, once every such prompt's hook has answered.
func (a *agent) settle(t *turn) {
	if t.wanting == nil || t.joining > 0 {
		return
	}
	t.wanting <- a.queued
	t.closing = len(a.queued) == 0
	t.wanting, a.queued = nil, nil
}

// joined waits for the prompts that joined; none closes the turn.
func (a *agent) joined(t *turn) ([]string, bool) {
	want := make(chan []string, 1)
	if !a.inTurn(t, func() { t.wanting = want; a.settle(t) }) {
		return nil, false
	}
	select {
	case more := <-want:
		return more, true
	case <-t.ctx.Done():
		return nil, false
	}
}

// interrupt ends the turn as a person's Esc does: no hook tells it, only the transcript, and that only where something
// has been shown. Before that the prompt goes back into the input line, and out of the conversation.
func (a *agent) interrupt(tool bool) {
	t := a.turn
	t.cancel()
	a.turn = nil
	back := a.queued
	a.queued = nil
	if !t.output {
		back = append([]string{t.prompt}, back...)
	}
	if a.box.empty() && len(back) > 0 {
		a.box.set(strings.Join(back, "\n"))
	}
	a.show("  ⎿  Interrupted · What should the agent do instead?")
	if !t.output {
		a.back(t.branch, t.taken)
	} else if !a.o.Nasty.on("esc-quiet") {
		text := Interrupted
		if tool {
			text = InterruptedTool
		}
		a.tell("user", text)
	}
	a.release()
}

// work is the turn, from the prompt hook to the stop hook.
func (a *agent) work(t *turn, text string) {
	defer t.cancel()
	if a.o.Nasty.on("no-start-hook") {
		a.firstPrompt()
	}
	said := a.promptIn(t, text)
	if said.Block {
		a.inTurn(t, func() { a.blocked(text, said.Reason); a.finish() })
		return
	}
	if !a.taken(t, inPrompt, text) || a.misbehave(t) {
		return
	}
	prompts := []string{text}
	if said.Context != "" {
		if a.ignores(t) || !a.taken(t, inContext, said.Context) {
			return
		}
		prompts = append(prompts, said.Context)
	}
	err := a.prompts(t, prompts)
	for active := false; err == nil; active = true {
		reason, failed := a.stop(t, active)
		if failed != nil || reason == "" {
			break
		}
		if a.ignores(t) || !a.taken(t, inHook, reason) {
			return
		}
		a.inTurn(t, func() { t.closing = false; a.show(Mark + reason) })
		err = a.prompts(t, []string{reason})
	}
	a.inTurn(t, a.finish)
}

// taken makes a text a part of the conversation, unless the turn is over.
func (a *agent) taken(t *turn, what, text string) bool {
	return a.inTurn(t, func() {
		t.taken = append(t.taken, text)
		a.take(what, text)
	})
}

// ignores is what the nasty modes do in place of taking what a hook has told: the agent dies, or a person stops the
// turn just then, the first time or so many times as the mode says.
func (a *agent) ignores(t *turn) bool {
	n := a.o.Nasty
	switch {
	case n.on("dies-when-told"):
		a.do(func() { a.exit(n.code("dies-when-told"), "") })
	case n.on("esc-when-told") && a.ignored < n.code("esc-when-told"):
		a.ignored++
		a.inTurn(t, func() { a.interrupt(false) })
	default:
		return false
	}
	return true
}

// firstPrompt begins the session where it begins with the first prompt only.
func (a *agent) firstPrompt() {
	first := false
	a.do(func() { first = !a.started })
	if first {
		a.startSession(a.source)
	}
}

// finish is the end of a turn on the loop's side. What joined a turn that failed becomes the next one.
func (a *agent) finish() {
	a.turn = nil
	a.held, a.queued = append(a.queued, a.held...), nil
	a.scroll()
	a.release()
}

// misbehave is what the nasty modes do in place of a turn.
func (a *agent) misbehave(t *turn) bool {
	n := a.o.Nasty
	switch {
	case n.on("dies-in-turn"):
		a.do(func() { a.exit(n.code("dies-in-turn"), "") })
	case n.on("silent"):
		<-t.ctx.Done()
	case n.on("limit"):
		a.ask(t.ctx.Done(), limitDialog())
		a.fail(t, "rate_limit", "You've reached your usage limit")
		a.inTurn(t, a.finish)
	default:
		return false
	}
	return true
}

// prompts works prompts, then what joined meanwhile, until nothing more has.
func (a *agent) prompts(t *turn, texts []string) error {
	for i := 0; len(texts) > 0; i++ {
		for _, text := range texts {
			given := []string{text}
			if i > 0 {
				if given = a.joins(t, text); given == nil {
					return errStopped
				}
			}
			for _, text := range given {
				if err := a.task(t, text); err != nil {
					return err
				}
			}
		}
		var ok bool
		if texts, ok = a.joined(t); !ok {
			return errStopped
		}
	}
	return nil
}

// joins takes a prompt that joined, and returns it with what a hook has said beside it; nil where the turn is over.
func (a *agent) joins(t *turn, text string) (given []string) {
	a.inTurn(t, func() {
		a.show(Mark + text)
		a.take(inPrompt, text)
		given = append(given, text)
		if c := t.beside[text]; c != "" {
			a.take(inContext, c)
			given = append(given, c)
		}
	})
	return given
}

// stop runs the stop hooks; the reason is what they want done instead of stopping.
func (a *agent) stop(t *turn, active bool) (string, error) {
	a.idMu.Lock()
	tasks := []map[string]any{}
	for id, what := range a.running {
		tasks = append(tasks, map[string]any{"id": id, "type": "shell", "status": "running", "description": what})
	}
	last := a.last
	a.idMu.Unlock()
	said := a.fire(t.ctx, "Stop", "", map[string]any{
		"stop_hook_active": active, "last_assistant_message": last, "background_tasks": tasks,
	})
	if t.ctx.Err() != nil {
		return "", errStopped
	}
	if said.Block {
		return said.Reason, nil
	}
	return "", nil
}

// say is the agent's own words.
func (a *agent) say(t *turn, text string) error {
	if !a.inTurn(t, func() { t.output = true; a.show("● " + text) }) {
		return errStopped
	}
	a.idMu.Lock()
	a.last = text
	a.idMu.Unlock()
	a.tell("assistant", text)
	return nil
}

// aside shows what is not the agent's own words.
func (a *agent) aside(t *turn, text string) error {
	if !a.inTurn(t, func() { t.output = true; a.show("  ⎿  " + text) }) {
		return errStopped
	}
	return nil
}

// task works one prompt, and where that names several files, one after the other.
func (a *agent) task(t *turn, text string) error {
	for _, part := range parts(text) {
		if err := a.part(t, part); err != nil {
			return err
		}
	}
	return nil
}

// part works what a prompt asks for and reports where its task copy says how.
func (a *agent) part(t *turn, text string) error {
	if strings.HasPrefix(text, Notification) {
		return a.say(t, "The background task has ended.")
	}
	j, err := a.read(t, text)
	if err != nil {
		return err
	}
	if j.Err != nil {
		return a.say(t, fmt.Sprintf("I can't read the task: %v", j.Err))
	}
	if a.again(j) {
		return a.report(t, j.Recipe, "succeeded", a.answer("done"))
	}
	if len(j.Lines) == 0 && j.Answer != "" {
		return a.say(t, "The answer: "+j.Answer)
	}
	if len(j.Lines) == 0 {
		refusal := "I find no line here that I understand: I know say, run, write, sleep, ask, choose, permission, background, subagent, error, done and fail."
		if err := a.say(t, refusal); err != nil || j.Recipe == nil {
			return err
		}
		return a.report(t, j.Recipe, "failed", refusal)
	}
	return a.lines(t, j)
}

// again reports whether the prompt's task copy has been worked before; then it is reported, not worked again.
func (a *agent) again(j job) bool {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	if j.Recipe != nil {
		a.recipe = j.Recipe
	}
	if j.File == "" || j.Recipe == nil {
		return false
	}
	_, known := a.worked[j.File]
	a.worked[j.File] = j.Recipe
	return known
}

// read understands a prompt; a task copy is read with the hooks of a tool around it.
func (a *agent) read(t *turn, text string) (j job, err error) {
	j = readJob(text, a.dir)
	if j.File == "" {
		return j, nil
	}
	ran, err := a.tool(t, tool{name: "Read", input: map[string]any{"file_path": j.File}, run: func() any {
		return map[string]any{"file": j.File}
	}})
	if err == nil && !ran {
		j = job{File: j.File, Err: errors.New("a hook refused it")}
	}
	if err == nil {
		err = a.aside(t, "Read "+j.File)
	}
	return j, err
}

func (a *agent) answer(otherwise string) string {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	if a.last == "" {
		return otherwise
	}
	return a.last
}

func (a *agent) lines(t *turn, j job) error {
	reported := false
	a.idMu.Lock()
	a.last = ""
	recipe := a.recipe
	a.idMu.Unlock()
	for _, l := range j.Lines {
		var err error
		switch l.Word {
		case "done":
			reported, err = true, a.report(t, recipe, "succeeded", l.Text)
		case "fail":
			reported, err = true, a.report(t, recipe, "failed", l.Text)
		default:
			err = a.line(t, l)
		}
		if errors.Is(err, errAsked) { // what is left of the task hangs on the answer, which comes as a prompt
			return nil
		}
		if err != nil {
			return err
		}
	}
	if reported || j.Recipe == nil {
		return nil
	}
	return a.report(t, j.Recipe, "succeeded", a.answer("done"))
}

func (a *agent) line(t *turn, l line) error {
	switch l.Word {
	case "say":
		return a.say(t, l.Text)
	case "sleep":
		if !a.pause(t.ctx, units(l.Text, time.Second)) {
			return errStopped
		}
		return nil
	case "run":
		_, err := a.tool(t, a.shell(t, l.Text))
		return err
	case "permission":
		s := a.shell(t, l.Text)
		s.asks = func() dialog { return permissionDialog(l.Text) }
		_, err := a.tool(t, s)
		return err
	case "write":
		return a.write(t, l.Text)
	case "ask":
		return a.asks(t, l.Text)
	case "choose":
		return a.question(t, l.Text)
	case "subagent":
		return a.subagent(t, l.Text)
	case "background":
		return a.background(t, l.Text)
	}
	a.fail(t, "unknown", "API Error: "+l.Text)
	return errFailed
}

// fail ends a turn as an error of the API does: StopFailure in place of Stop.
func (a *agent) fail(t *turn, kind, text string) {
	if a.say(t, text) == nil {
		a.fire(t.ctx, "StopFailure", kind, map[string]any{"error": kind, "last_assistant_message": text})
	}
}

//go:build unix

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// agent is the program. The loop in run owns all that is not under idMu; everybody else goes through do.
type agent struct {
	o        options
	settings settings
	dir      string
	env      []string
	folder   string // of the transcripts
	source   string // startup, resume
	size     func() (width, height int, err error)
	ctx      context.Context // ends with the agent
	calls    chan func()
	over     chan struct{} // closed when the loop has ended

	idMu         sync.Mutex
	conversation string
	transcript   string
	leaf         string // the transcript's line that the next one follows
	promptID     string
	last         string             // what it last said
	recipe       *recipe            // of the newest task
	worked       map[string]*recipe // task copies that have been worked
	running      map[string]string  // background tasks: id and what they are

	screen  *screen
	box     box
	dialog  *dialog
	turn    *turn
	queued  []string // prompts that join the turn
	held    []string // prompts that came while a turn closed or a conversation changed
	said    []string // the conversation as it is shown
	ignored int      // how often it did not take what a hook told; of the turn that runs
	prompt  string   // the last one
	mounted bool     // the input line is there
	started bool     // a session has begun: its end is to be told
	busy    bool     // a conversation is being cleared or compacted
	armed   bool     // the next Ctrl-C exits
	escaped time.Time
	enters  int
	beats   int
	ended   bool
	code    int
	reason  string // of the session's end
}

// do lets the loop run f and waits until it has; false where the loop has ended.
func (a *agent) do(f func()) bool {
	done := make(chan struct{})
	select {
	case a.calls <- func() { f(); close(done) }:
		<-done
		return true
	case <-a.over:
		return false
	}
}

// notice shows a line that is not part of the conversation. It may be called from anywhere.
func (a *agent) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	go a.do(func() { a.show("⚠ " + text) })
}

// run is the loop. It wakes for input, signals and what turns tell, and by the clock only while a turn runs.
func (a *agent) run(ctx context.Context, in io.Reader, signals <-chan os.Signal) int {
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithCancel(ctx)
	a.resize()
	chunks := make(chan []byte)
	go readInput(in, chunks)
	go a.start()
	var keys decoder
	clock := time.NewTicker(time.Hour)
	clock.Stop()
	ticking := false
	for !a.ended {
		if work := a.turn != nil && a.dialog == nil; work != ticking {
			if ticking = work; work {
				clock.Reset(500 * time.Millisecond)
			} else {
				clock.Stop()
			}
		}
		a.draw()
		select {
		case chunk, ok := <-chunks:
			if !ok {
				a.exit(128+int(syscall.SIGHUP), "other")
				break
			}
			for _, k := range keys.read(chunk) {
				a.press(k)
			}
		case f := <-a.calls:
			f()
		case s := <-signals:
			a.signal(s)
		case <-clock.C:
			a.beats++
		case <-ctx.Done():
			a.exit(128+int(syscall.SIGTERM), "other")
		}
	}
	close(a.over)
	cancel()
	a.endSession()
	return a.code
}

func (a *agent) draw() {
	if !a.mounted && a.dialog == nil && a.screen.drawn == nil {
		return
	}
	if err := a.screen.draw(a.frame()); err != nil {
		a.exit(128+int(syscall.SIGHUP), "other")
	}
}

func (a *agent) resize() {
	width, height, err := a.size()
	if err != nil || width == 0 || height == 0 {
		width, height = 80, 24
	}
	a.screen.resize(width, height)
}

func (a *agent) signal(s os.Signal) {
	if s == syscall.SIGWINCH {
		a.resize()
		return
	}
	n, ok := s.(syscall.Signal)
	if !ok {
		n = syscall.SIGTERM
	}
	a.exit(128+int(n), "other")
}

// exit ends the loop; the first one counts.
func (a *agent) exit(code int, reason string) {
	if !a.ended {
		a.ended, a.code, a.reason = true, code, reason
	}
}

// endSession tells the end. Whoever closes the pane doesn't wait long, so neither does this.
func (a *agent) endSession() {
	if !a.started || a.reason == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	a.fire(ctx, "SessionEnd", a.reason, map[string]any{"reason": a.reason})
}

// start shows what stands before the input line, then mounts it.
func (a *agent) start() {
	n := a.o.Nasty
	if !a.passDialogs() {
		return
	}
	if !n.on("no-start-hook") {
		a.startSession(a.source)
	}
	if !a.pause(a.ctx, n.wait("slow-mount", time.Second)) {
		return
	}
	a.do(a.mount)
	if n.on("auto-mode") {
		a.ask(a.ctx.Done(), autoDialog())
	}
	if a.o.Prompt != "" {
		a.do(func() { a.submit(a.o.Prompt) })
	}
}

// passDialogs shows the dialogs before which no hook runs; false where one of them ended the agent.
func (a *agent) passDialogs() bool {
	n, stop := a.o.Nasty, a.ctx.Done()
	if n.on("trust") && a.ask(stop, trustDialog(a.dir)) != 0 {
		a.do(func() { a.exit(1, "") })
		return false
	}
	login := n.on("login")
	if n.on("api-key") && a.ask(stop, keyDialog()) != 0 {
		login = true
	}
	if login && a.ask(stop, loginDialog()) == cancelled {
		a.do(func() { a.exit(1, "") })
		return false
	}
	return true
}

func (a *agent) startSession(source string) {
	a.do(func() { a.started = true })
	said := a.fire(a.ctx, "SessionStart", source, map[string]any{"source": source, "model": a.o.Model})
	if said.Context != "" {
		a.do(func() { a.take(inContext, said.Context) })
	}
}

// mount brings the input line. What was typed before it stands in it.
func (a *agent) mount() {
	if err := a.screen.enter(); err != nil {
		a.exit(128+int(syscall.SIGHUP), "other")
		return
	}
	a.mounted = true
	if draft, ok := a.o.Nasty["draft"]; ok {
		a.box.insert(draft)
	}
	a.show("demo agent · " + a.dir)
	a.scroll()
}

// scroll shows ordinary output that holds what dialogs and old prompts look like.
func (a *agent) scroll() {
	if !a.o.Nasty.on("scroll") {
		return
	}
	rule := strings.Repeat(string(Rule), a.screen.width)
	for _, title := range Titles {
		a.show(rule + "\n " + title + "\n\n ❯ 1. Yes\n   2. No\n\n Enter to select · Esc to cancel")
	}
	a.show(rule + "\n" + Mark + "an old prompt with the mark\n" + rule + "\n  demo · ? for shortcuts")
	a.show("❯ 1. First\n› Ask to do anything\nesc to interrupt")
}

// show adds to the conversation on the screen. Only its end is kept: nothing scrolls back on this screen.
func (a *agent) show(text string) {
	text = clean(text)
	if most := 16 << 10; len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	a.said = append(a.said, text)
	if len(a.said) > 500 {
		a.said = append([]string(nil), a.said[len(a.said)-250:]...)
	}
}

// recall shows the end of a conversation that is taken up again.
func (a *agent) recall(transcript []byte) {
	for _, row := range strings.Split(string(transcript), "\n") {
		var n note
		if json.Unmarshal([]byte(row), &n) != nil {
			continue
		}
		a.leaf = n.UUID
		if n.Attachment != nil {
			continue
		}
		lead := "● "
		if n.Message.Role == "user" {
			lead = Mark
		} else if n.Message.Role == "assistant" {
			a.last = n.Message.Content
		}
		a.show(lead + n.Message.Content)
	}
}

// pause waits; false where ctx ended first.
func (a *agent) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// press does what one key does.
func (a *agent) press(k key) {
	if a.ended {
		return
	}
	if a.dialog != nil {
		a.decide(k)
		return
	}
	if k.Name != "ctrl-c" && k.Name != "ctrl-d" {
		a.armed = false
	}
	switch k.Name {
	case "enter":
		a.enter()
	case "lost-enter":
		a.jot(entry{What: "lost-enter", Text: string(a.box.text)})
	case "esc":
		a.escape()
	case "ctrl-c", "ctrl-d":
		a.breakKey(k)
	case "tab":
		if m := a.box.menu(); m != nil {
			a.box.set(m[0] + " ")
		}
	case "up":
		if a.box.empty() {
			a.box.set(a.prompt)
		}
	case "paste":
		a.paste(k)
	default:
		a.box.edit(k)
	}
}

func (a *agent) paste(k key) {
	wait := a.o.Nasty.wait("paste-slow", time.Millisecond)
	if wait == 0 {
		a.box.edit(k)
		return
	}
	go func() {
		if a.pause(a.ctx, wait) {
			a.do(func() { a.box.edit(k) })
		}
	}()
}

func (a *agent) enter() {
	a.enters++
	swallowed := a.enters == 1 && (a.o.Nasty.on("enter-swallowed") || a.o.Nasty.on("freezes"))
	if !a.mounted || swallowed {
		a.jot(entry{What: "lost-enter", Text: string(a.box.text)})
		// Hung: keys wait in the terminal, and nothing is drawn.
		time.Sleep(a.o.Nasty.wait("freezes", time.Second))
		return
	}
	if m := a.box.menu(); m != nil {
		a.box.set(m[0])
	}
	if strings.TrimSpace(string(a.box.text)) == "" {
		return
	}
	a.submit(a.box.take())
}

// escape stops a turn; without one, twice clears a draft, and on an empty line opens the rewind menu.
func (a *agent) escape() {
	if a.turn != nil {
		a.interrupt(a.turn.tool)
		return
	}
	twice := time.Since(a.escaped) < time.Second
	a.escaped = time.Now()
	if !twice || !a.mounted {
		return
	}
	a.escaped = time.Time{}
	if !a.box.empty() {
		a.box.set("")
		return
	}
	go a.rewind(a.prompt)
}

func (a *agent) rewind(prompt string) {
	d := dialog{name: "rewind", options: []string{"The last prompt", "Stay here"}, column: 1}
	if a.ask(a.ctx.Done(), d) == 0 {
		a.do(func() { a.box.set(prompt) })
	}
}

func (a *agent) breakKey(k key) {
	switch {
	case !a.box.empty():
		if k.Name == "ctrl-c" {
			a.box.set("")
		}
	case a.turn != nil && k.Name == "ctrl-c":
		a.interrupt(a.turn.tool)
	case a.armed:
		a.exit(0, "prompt_input_exit")
	default:
		a.armed = true
	}
}

var slash = pattern(`^/([a-z-]+)(\s|$)`)

// submit takes a line that was entered: a command, or a prompt.
func (a *agent) submit(text string) {
	what := "submitted"
	if a.turn != nil {
		what = "queued"
	}
	a.jot(entry{What: what, Text: text})
	if m := slash().FindStringSubmatch(text); m != nil {
		a.slash(m[1])
		return
	}
	a.prompt = text
	a.accept(text)
}

func (a *agent) slash(name string) {
	switch {
	case name == "exit" || name == "quit":
		a.exit(0, "prompt_input_exit")
	case name == "help":
		a.show("Lines: say run write sleep ask permission background subagent error done fail\nCommands: " + strings.Join(commands, " "))
	case name != "clear" && name != "compact":
		a.show("Unknown command: /" + name)
	case a.turn != nil || a.busy:
		a.show("/" + name + " has to wait until the turn has ended")
	case name == "clear":
		a.busy = true
		go a.clear()
	default:
		a.busy = true
		go a.compact()
	}
}

// clear begins a new conversation in the same process.
func (a *agent) clear() {
	a.fire(a.ctx, "SessionEnd", "clear", map[string]any{"reason": "clear"})
	a.renew(uuid.NewString())
	a.do(func() { a.said, a.screen.drawn = nil, nil })
	a.startSession("clear")
	a.do(a.release)
}

// compact keeps the conversation's id; there is neither a prompt nor a stop hook around it.
func (a *agent) compact() {
	a.do(func() { a.show("Compacting…") })
	trigger := map[string]any{"trigger": "manual"}
	a.fire(a.ctx, "PreCompact", "manual", trigger)
	a.fire(a.ctx, "SubagentStop", "", map[string]any{"agent_id": "", "agent_type": "", "stop_hook_active": false})
	a.startSession("compact")
	a.fire(a.ctx, "PostCompact", "manual", trigger)
	a.do(func() { a.show("Compacted"); a.release() })
}

// release takes the prompts that had to wait.
func (a *agent) release() {
	a.busy = false
	held := a.held
	a.held = nil
	for _, text := range held {
		a.accept(text)
	}
}

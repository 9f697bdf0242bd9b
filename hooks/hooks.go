// Package hooks is what differs between agent programs, one file a kind: how one is launched and resumed,
// how its hooks are installed and read, how its screen tells an input line from a dialog, how its own log
// is read, how it is asked to quit. A new kind is one file that calls register in its init.
//
// It decides nothing: what a hook means for a worker is in orch. It runs nothing either: argv, files and
// environment are handed to whoever opens the pane.
package hooks

import (
	"encoding/json"
	"sort"
	"strings"

	"st/orch"
)

// Kind is one agent program.
type Kind interface {
	// Name is how people and records call it: "demo".
	Name() string
	// Program is the file to look up in the caller's PATH; "" means st itself.
	Program() string
	// Owns reports whether a process with this executable path and argv is an agent of this kind. It is asked
	// for every process above a caller, so it must be cheap and must not take a wrapper for the agent.
	Owns(exe string, argv []string) bool
	// Lifts returns those of args that lift permissions (with their values, where they stand apart).
	Lifts(args []string) []string
	// Runs reports whether a task's text by itself makes the agent run commands without asking anybody.
	Runs(spec string) bool
	// Launch says how an agent is started, with a conversation that it takes up again where Spec names one. It
	// writes nothing.
	Launch(Spec) (Launch, error)
	// Resume is the argv, without the program, that takes up a conversation again.
	Resume(conversation string) []string
	// Resumed tells that an agent that was started with argv takes up a conversation again, and which: "" where a person
	// chooses one, or its program does.
	Resumed(argv []string) (conversation string, ok bool)
	// Kept is what of argv, without the program, holds also for a program that takes up the conversation of this one:
	// the model and flags that are known to. A prompt, what chooses a conversation, and what may hold a secret is not.
	Kept(argv []string) (model string, args []string)

	// Trim cuts a hook's payload down to the fields that Decode needs, before it leaves the hook process.
	// Prompt texts and tool inputs do not pass, only Marks of our own lines. Payloads may be megabytes.
	Trim(payload []byte) (json.RawMessage, error)
	// Decode reads a trimmed payload.
	Decode(trimmed json.RawMessage) (orch.AgentEvent, error)
	// Answer is what the hook prints for its agent, decided without the daemon; nil prints nothing.
	Answer(payload []byte, at Place) []byte
	// Tell is what the hook of an event prints to give its agent a line, nil where the agent would not hear it: at
	// the end of a turn, which goes on then, with a prompt, and at the begin of a session.
	Tell(e orch.AgentEvent, line string) []byte

	// Line reads one line of the agent's own log; ok is false for a line that tells nothing.
	Line(line []byte) (e orch.AgentEvent, ok bool)
	// Log looks for our own lines in an agent's log: one for each log.
	Log() Log
	// LastAnswer returns what the agent last said, from its own log at path; "" when it has said nothing.
	LastAnswer(path string) (string, error)

	// Look reads a screen.
	Look(View) Screen
	// Quit says how an agent at a ready, empty input line is asked to end itself.
	Quit() Quit
}

// Log finds the marks of our own lines in one agent's own log. It is given the log's lines in their order, from
// anywhere on.
type Log interface {
	// Words takes the next line and returns the marks of what is part of the agent's conversation from now on; nil for
	// most lines.
	Words(line []byte) (marks []string)
	// End returns the marks of what the end of the agent's process makes a part of its conversation.
	End() (marks []string)
}

// Beside is a kind that may call a hook twice for one event: as installed, and as its launch brought it.
type Beside interface {
	// Beside tells that this call is the second one. args stand behind the kind's name in the hook's command.
	Beside(args []string, getenv func(string) string) bool
}

// Carrier is a kind whose agents run commands where the daemon can't be reached. The hook that is asked about a
// report runs outside of that, and hands it in.
type Carrier interface {
	// Carry returns the calls of st, without the program's name, that the hook is to make, and the folder in which;
	// nil for anything but a worker's plain report.
	Carry(payload []byte) (calls [][]string, dir string)
	// Carried is what the hook answers then: said is what the calls printed, done that all went well.
	Carried(said string, done bool) []byte
}

// Mute is a kind that calls no hook before its first prompt.
type Mute interface{ Mute() bool }

// Sharer is a kind of which one process may serve several agents, each in a pane of its own. What runs below such
// a process has the ancestry and the environment of whichever started it first.
type Sharer interface {
	Shared(argv []string) bool
	// Seat tells that an agent started with argv may be served by such a process.
	Seat(argv []string) bool
	// ThreadEnv is the variable by which a command knows the conversation that it belongs to.
	ThreadEnv() string
}

// Bounded is a kind whose agents, as a person starts them, ask before they read a file that does not lie below the folder in
// which they were started.
type Bounded interface{ ReadsBelow() bool }

// ReadsBelow tells that of a kind.
func ReadsBelow(k Kind) bool {
	b, ok := k.(Bounded)
	return ok && b.ReadsBelow()
}

// ReadsIn is the folder in which an agent of a kind, as a person starts it, reads any file without asking; "" where there is none.
// log is the path of its own log.
func ReadsIn(k Kind, log string) string {
	if r, ok := k.(interface{ ReadsIn(log string) string }); ok && log != "" {
		return r.ReadsIn(log)
	}
	return ""
}

// SubmitKeys are the keys that submit what stands in a kind's input line, in the multiplexer's own names.
func SubmitKeys(k Kind) []string {
	if s, ok := k.(interface{ Submit() []string }); ok {
		return s.Submit()
	}
	return []string{"Enter"}
}

// Recorder is a kind whose programs record which conversation a process of theirs runs, beside what their hooks tell.
type Recorder interface {
	// Recorded is that conversation, "" where nothing tells, and its log, where that is told as well. getenv reads the environment
	// of the process.
	Recorded(pid int, getenv func(string) string) (conversation, log string)
	// Last is how its program takes up the last conversation of a folder, without the program's name.
	Last() []string
}

// TalkOf is the conversation that a process of a kind runs, where its program or its arguments tell; "" where they don't.
func TalkOf(kind string, pid int, argv []string, getenv func(string) string) (conversation, log string) {
	if r, ok := kinds[kind].(Recorder); ok {
		if conversation, log = r.Recorded(pid, getenv); conversation != "" {
			return conversation, log
		}
	}
	return Resumed(kind, argv), ""
}

// TakeUpLast is the line by which a person takes up the last conversation of a folder; "" where a kind has none.
func TakeUpLast(kind string) string {
	r, ok := kinds[kind].(Recorder)
	if !ok || len(r.Last()) == 0 {
		return ""
	}
	return strings.Join(append([]string{kinds[kind].Program()}, r.Last()...), " ")
}

// Mated is a kind whose agents start others of it in panes of their own, for which they alone decide what they do.
type Mated interface {
	// Mate tells that an agent was started so.
	Mate(argv []string) bool
}

// IsMate tells that an agent of a kind was started by another one for itself.
func IsMate(kind string, argv []string) bool {
	m, ok := kinds[kind].(Mated)
	return ok && m.Mate(argv)
}

// IsShared tells that a process of a kind serves several agents.
func IsShared(kind string, argv []string) bool {
	s, ok := kinds[kind].(Sharer)
	return ok && s.Shared(argv)
}

// Resumed is the conversation that an agent of a kind was started with, "" for a new one, and for one that its arguments
// don't name.
func Resumed(kind string, argv []string) string {
	conversation, _ := TakesUp(kind, argv)
	return conversation
}

// TakesUp tells that an agent of a kind was started to take up a conversation again, and which, where its arguments say.
func TakesUp(kind string, argv []string) (conversation string, ok bool) {
	k, known := kinds[kind]
	if !known {
		return "", false
	}
	return k.Resumed(argv)
}

// TakesSeat tells that an agent's process of a kind may be served by a shared one.
func TakesSeat(kind string, argv []string) bool {
	s, ok := kinds[kind].(Sharer)
	return ok && s.Seat(argv)
}

// Unheard is a kind whose launch brings no hooks: its agents are heard where st's are installed in the person's settings.
type Unheard interface{ Unheard() bool }

// IsUnheard tells that of a kind.
func IsUnheard(k Kind) bool {
	u, ok := k.(Unheard)
	return ok && u.Unheard()
}

// IsMute tells that a kind calls no hook before its first prompt.
func IsMute(k Kind) bool {
	m, ok := k.(Mute)
	return ok && m.Mute()
}

// Thread is the conversation to which the caller belongs, by its environment; "" where nothing tells.
func Thread(getenv func(string) string) string {
	for _, n := range Names() {
		if s, ok := kinds[n].(Sharer); ok {
			if thread := getenv(s.ThreadEnv()); thread != "" {
				return thread
			}
		}
	}
	return ""
}

// Spec is what is wanted of a launch.
type Spec struct {
	Program  string   // absolute path
	Self     string   // absolute path of st, for hook commands
	Home     string   // ST_HOME
	Agent    string   // agent id
	Dispatch string   // dispatch id
	Copy     string   // path of the task copy that the agent must be able to read without asking
	Scratch  string   // folder (0700) for files of this launch; exists
	Model    string   // "" = the agent's own choice
	Args     []string // further arguments, as given
	Resume   string   // the conversation to take up again, "" = a new one
	// Conversation is what a new one is to be called, "" where the program calls it what it likes.
	Conversation string
	Log          string // path of that conversation's own log, "" where unknown
}

// Launch is how an agent is started.
type Launch struct {
	Argv  []string
	Env   map[string]string // added to the environment
	Unset []string          // dropped from the environment: names, or prefixes that end in *
	Files map[string][]byte // written 0600 before the start, by absolute path
}

// Quit is how an agent is asked to end itself. Where neither fits, the process is signalled.
type Quit struct {
	Line string   // typed and submitted like a word
	Keys []string // or these keys, in the multiplexer's own names
}

// Tried is a kind whose program would keep something of a start that is only a trial, were it not started and ended in a way
// of its own.
type Tried interface {
	// Trial is that start, and how it is ended; where neither way of Quit is named the process is signalled.
	Trial(Launch) (Launch, Quit)
	// Forget is how its program deletes a conversation for good, without the program's name; nil where it keeps none of a trial.
	Forget(conversation string) []string
}

// Trial is a start of a kind of which its program keeps as little as can be, and how it is ended.
func Trial(k Kind, l Launch) (Launch, Quit) {
	if t, ok := k.(Tried); ok {
		return t.Trial(l)
	}
	return l, k.Quit()
}

// View is a screen as it stands: what a look at a pane gives.
type View struct {
	// Rows are the visible rows, top first, joined where they wrap only if the terminal knows it, with SGR
	// sequences (ESC[...m) and nothing else.
	Rows             []string
	CursorX, CursorY int // column and row, 0-based
	CursorVisible    bool
	Alternate        bool // the alternate screen is on
	Width, Height    int  // columns, rows
}

// Names of screens. A kind may return no other.
const (
	Ready      = "ready" // an input line; empty unless Draft says otherwise. A working agent may look the same
	Trust      = "trust"
	Login      = "login"
	APIKey     = "api_key"
	AutoMode   = "auto_mode"
	Permission = "permission"
	Question   = "question"
	Limit      = "limit" // of usage: what is left, when it resets, or whether to go on for less
	Update     = "update"
	Review     = "hooks_review"
	Bypass     = "bypass"   // whether to run without asking for anything
	Servers    = "mcp"      // whether to use a project's own tool servers
	Imports    = "imports"  // whether to read files that a project's instructions name outside of it
	Resume     = "resume"   // a list of conversations to go on with
	Rewind     = "rewind"   // a list of points to go back to
	Menu       = "menu"     // another menu or page that a person opens: models, settings, help
	Starting   = "starting" // nothing to be read yet, or no more: blank, a logo, a shell's line
	Strange    = "unknown"  // a screen that is none of those
)

// Screen is what a look says.
type Screen struct {
	Name string
	// Detail is what a person should know of it, in one line of at most 200 bytes: a permission's tool and
	// command, a question with its options, when a limit resets; of a running turn that it compacts, or why it
	// tries again. "" where the name says all. Hooks tell the same in full; this is for when they do not.
	Detail string
	// Draft is what stands in the input line, without the mark, rows joined by nothing; for Ready only.
	Draft string
	// Popup says that a menu is open over the input line, where Enter would choose from it.
	Popup bool
	// Working says that this screen shows a running turn; for Ready only. It settles what hooks and the agent's
	// own log leave open. Shown for a second, a turn runs, whatever was told last: an interrupt may be logged
	// after the queued prompt that followed it. Shown in this turn and then gone for a second, none runs: a
	// prompt that is taken back before the first word ends its turn with no hook and no line.
	Working bool
}

var kinds = map[string]Kind{}

func register(k Kind) {
	if _, ok := kinds[k.Name()]; ok {
		panic("hooks: two kinds are called " + k.Name())
	}
	kinds[k.Name()] = k
}

// Lookup returns the kind of that name. Where there is none an error names those that there are; of one that a person has
// described an *orch.Error says why it can't be used (kind_bad, kind_not_trusted).
func Lookup(name string) (Kind, error) {
	if k, ok := kinds[name]; ok {
		return k, nil
	}
	return given.lookup(name, false)
}

// Fresh is Lookup for somebody who is about to start an agent: a kind that a person has described is read anew, and has
// to be the one that they trust.
func Fresh(name string) (Kind, error) {
	if k, ok := kinds[name]; ok {
		return k, nil
	}
	return given.lookup(name, true)
}

// Names lists the kinds that are built in, sorted.
func Names() []string {
	var names []string
	for n := range kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// PassEnv lists the variables of a caller's shell that some kind's program needs beside those every program
// needs: names, or prefixes that end in *. A kind that needs any has a method of that name.
func PassEnv() []string {
	var names []string
	for _, n := range Names() {
		if k, ok := kinds[n].(interface{ PassEnv() []string }); ok {
			names = append(names, k.PassEnv()...)
		}
	}
	return append(names, given.passEnv()...)
}

// KindOf returns the kind whose program a process is, "" for none.
func KindOf(exe string, argv []string) string {
	for _, n := range Names() {
		if kinds[n].Owns(exe, argv) {
			return n
		}
	}
	return ""
}

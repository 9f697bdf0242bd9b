// Package demo is the built-in agent: a small terminal program that behaves like the coding agents st hands
// work to, and does what its task's lines say instead of asking a model. It draws an input line, runs hooks,
// shows dialogs, writes a transcript, and loses keys where the real ones lose them. With its nasty modes it is
// also the stand-in of the tests.
//
// It knows nothing of st but the command that a task copy names for the report, and where its conversations are kept.
// How st starts it, reads its hooks and its screen is in package hooks.
package demo

import "path/filepath"

// Verb is the hidden verb under which st runs the agent.
const Verb = "demo-agent"

// Folder is where the conversations of the agents of one ST_HOME have their logs: those outlive the agents.
func Folder(home string) string { return filepath.Join(home, "demo") }

// What the agent draws and what a reader of its screen looks for.
const (
	// Mark stands before the input line; a no-break space follows it, so that no option of a dialog and no old
	// prompt in the conversation begins the same way.
	Mark = "❯\u00a0"
	// WorkingMark stands behind the spinner, two rows above the box, while a turn runs.
	WorkingMark = " Working… ("
	// Rule is the rune of the rules above and below the input line, drawn over the whole width.
	Rule = '─'
	// Indent is what rows after the first begin with in the input line.
	Indent = "  "
)

// Titles are the first rows of the dialogs, by the name of the screen. A dialog that is not listed belongs to
// the person alone.
var Titles = map[string]string{
	"trust":      "Do you trust the files in this folder?",
	"login":      "Select login method",
	"api_key":    "Detected an API key in your environment",
	"auto_mode":  "Make auto mode your default permission mode?",
	"permission": "Permission needed",
	"question":   "Question for you",
	"limit":      "You've reached your usage limit",
}

// Events are the hook events that the agent fires.
var Events = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop",
	"StopFailure", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop",
}

// What stands in the transcript where the person stopped a turn.
const (
	Interrupted     = "[Request interrupted by user]"
	InterruptedTool = "[Request interrupted by user for tool use]"
)

// Notification begins a prompt that nobody typed.
const Notification = "<task-notification>"

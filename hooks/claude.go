package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// claude is Claude Code: measured on 2.1.332, the native binary and the npm package alike.
type claude struct {
	// selves are the names under which this very program may be called by its absolute path.
	selves func() []string
}

func init() { register(claude{selves: calledAs}) }

func (claude) Name() string    { return "claude" }
func (claude) Program() string { return "claude" }

// claudeEvents are the hooks that st wants, each with the seconds after which Claude gives up on one call.
// Of the events that exist and are left out none says anything about a turn: PostToolBatch repeats what
// PostToolUse told, UserPromptExpansion comes beside UserPromptSubmit.
var claudeEvents = map[string]int{
	"SessionStart": 10, "SessionEnd": 5,
	"UserPromptSubmit": 10, "Stop": 10, "StopFailure": 10,
	"PreToolUse": 10, "PostToolUse": 10, "PostToolUseFailure": 10,
	"PermissionRequest": 10, "Notification": 10,
	"SubagentStart": 10, "SubagentStop": 10,
	"PreCompact": 10, "PostCompact": 10,
}

// claudeParent are the names by which Claude tells its children that they are its children. A new agent
// that inherits them takes itself for a part of the old one. The other CLAUDE_CODE_ names are a person's
// own settings (CLAUDE_CODE_USE_BEDROCK and the like) and stay.
var claudeParent = []string{
	"CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_*",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_CHILD_*",
	"CLAUDE_CODE_MESSAGING_*", "AI_AGENT",
}

// Marks are those of these names that no person sets.
func (claude) Marks() []string {
	return []string{"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_CHILD_*"}
}

// claudeUnfit are arguments with which Claude is no agent in its pane, or one whose hooks don't run.
// --settings can be given once only: of two the last counts, and ours holds the hooks.
var claudeUnfit = map[string]string{
	"--settings":   "st gives its own; put yours into .claude/settings.local.json",
	"--bare":       "it runs no hooks",
	"--safe-mode":  "it runs no hooks",
	"-p":           "it has no input line",
	"--print":      "it has no input line",
	"--bg":         "it leaves its pane",
	"--background": "it leaves its pane",
	"--cloud":      "it leaves its pane",
	"--desktop":    "it leaves its pane",
	"--teleport":   "it leaves its pane",
	"--tmux":       "it leaves its pane",
}

func (claude) Launch(s Spec) (Launch, error) {
	for _, a := range s.Args {
		name, _, _ := strings.Cut(a, "=")
		if why, ok := claudeUnfit[name]; ok {
			return Launch{}, fmt.Errorf("claude can't be started with %s: %s", name, why)
		}
	}
	settings, err := claudeSettings(s)
	if err != nil {
		return Launch{}, err
	}
	file := filepath.Join(s.Scratch, "claude.json")
	argv, args := []string{s.Program, "--settings", file}, s.Args
	if s.Resume != "" {
		argv, args = append(argv, claude{}.Resume(s.Resume)...), claudeTalk.without(args)
	}
	if s.Model != "" {
		argv = append(argv, "--model", s.Model)
	}
	return Launch{
		Argv:  append(argv, args...),
		Unset: claudeParent,
		Files: map[string][]byte{file: settings},
	}, nil
}

// PassEnv names what Claude Code reads of a person's shell: where its configuration lies, how it signs in and
// to whom it speaks. What tells which Claude is running is left out, see claudeParent.
func (claude) PassEnv() []string {
	return []string{
		"ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*",
		"CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_API_*", "CLAUDE_CODE_CLIENT_*", "CLOUD_ML_REGION", "VERTEX_REGION_*",
		"AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "NODE_EXTRA_CA_CERTS",
		"DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "IS_SANDBOX",
	}
}

// claudeSettings are the settings of one launch. Claude adds them to the person's own. Beyond what was
// allowed before, they allow a worker to read the file with the task and the messages beside it, which are named
// after it, and to report; single verbs, never st *.
func claudeSettings(s Spec) ([]byte, error) {
	type call struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type group struct {
		Hooks []call `json:"hooks"`
	}
	type permissions struct {
		Allow []string `json:"allow"`
	}
	set := struct {
		Hooks       map[string][]group `json:"hooks"`
		Permissions permissions        `json:"permissions,omitzero"` // Claude throws away a file in which a list is null
	}{Hooks: map[string][]group{}}
	// Byte-identical commands in several settings files fire once: the same string everywhere.
	command := hookCommand(s.Self, "claude")
	for event, seconds := range claudeEvents {
		set.Hooks[event] = []group{{[]call{{"command", command, seconds}}}}
	}
	if s.Copy != "" {
		if !filepath.IsAbs(s.Copy) {
			return nil, fmt.Errorf("the task copy %q has no absolute path", s.Copy)
		}
		// Two slashes are Claude's way to say that a path starts at the root of the disk.
		read := "Read(/" + filepath.ToSlash(s.Copy)
		set.Permissions.Allow = append(set.Permissions.Allow, read+")", strings.TrimSuffix(read, ".md")+"-*.md)",
			"Bash(st worker done:*)", "Bash(st worker progress:*)")
	}
	return json.MarshalIndent(set, "", "  ")
}

// ReadsBelow: in its default mode Claude reads below its folder without asking, and asks about any other file (2.1.332).
func (claude) ReadsBelow() bool { return true }

// claudeSessions is the folder in Claude's own in which each process says which conversation it runs, in a file that is named
// by its id (2.1.332).
const claudeSessions = "sessions"

// Recorded reads Claude's own record. It is no contract of Claude's: whatever does not fit tells nothing.
func (claude) Recorded(pid int, getenv func(string) string) (conversation, log string) {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(getenv("HOME"), ".claude")
	}
	return recorded(filepath.Join(dir, claudeSessions), pid)
}

func (claude) Last() []string { return []string{"--continue"} }

// recorded reads which conversation a process says that it runs.
func recorded(dir string, pid int) (conversation, log string) {
	raw, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(pid)+".json"))
	if err != nil {
		return "", ""
	}
	var r struct {
		PID        int    `json:"pid"`
		Session    string `json:"sessionId"`
		Transcript string `json:"transcript_path"` // the built-in agent's
	}
	if json.Unmarshal(raw, &r) != nil || r.PID != pid || uuid.Validate(r.Session) != nil {
		return "", ""
	}
	return r.Session, r.Transcript
}

// claudeMate are the arguments with which Claude starts the members of an agent team in panes of their own (2.1.332).
var claudeMate = []string{"--agent-id", "--team-name", "--parent-session-id"}

// Mate knows the members of Claude's own agent teams.
func (claude) Mate(argv []string) bool {
	return slices.ContainsFunc(argv, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(claudeMate, name)
	})
}

func (claude) Resume(conversation string) []string { return []string{"--resume", conversation} }

// claudeAlone are arguments with which Claude takes no place in a window, or goes on in a conversation of its own.
var claudeAlone = map[string]bool{"-p": true, "--print": true, "--fork-session": true}

// Resumed is the id behind --resume. Without one, or with words to search for, a person chooses; --continue goes on with the
// folder's last.
func (claude) Resumed(argv []string) (conversation string, ok bool) {
	for i := 1; i < len(argv); i++ {
		name, value, joined := strings.Cut(argv[i], "=")
		switch {
		case claudeAlone[name]:
			return "", false
		case name == "--continue" || name == "-c":
			ok = true
		case name == "--resume" || name == "-r":
			if !joined && i+1 < len(argv) {
				value = argv[i+1]
			}
			if ok = true; uuid.Validate(value) == nil {
				conversation = value
			}
		}
	}
	return conversation, ok
}

// claudeTalk are the flags by which Claude chooses its conversation: -c is --continue, -r is --resume.
var claudeTalk = flagSet{
	"--session-id": 1, "--resume": 1, "-r": 1, "--continue": 0, "-c": 0, "--fork-session": 0, "--from-pr": 1,
}

// claudeKept are flags of a person that hold for the conversation: what Claude may do, where, and with which model.
var claudeKept = flagSet{
	"--permission-mode": 1, "--dangerously-skip-permissions": 0, "--allow-dangerously-skip-permissions": 0, "--add-dir": many,
	"--allowedTools": many, "--allowed-tools": many, "--disallowedTools": many, "--disallowed-tools": many, "--fallback-model": 1,
}

// Kept: a value of --mcp-config, --settings or --append-system-prompt may be the thing itself, with a key in it.
func (claude) Kept(argv []string) (model string, args []string) {
	return claudeKept.kept(argv, "--model")
}

// claudeVersions is where the native installer keeps its binaries: the file is named by its version.
var claudeVersions = pattern(`/claude/versions/[0-9][^/]*$`)

// Owns knows the native binary, and a JavaScript runtime that runs the package's cli.js, as before there was
// a binary; it names itself claude then. A shell script called claude runs as its shell, and is none; nor is
// the package's cli-wrapper.cjs, which starts the binary as its child.
func (claude) Owns(exe string, argv []string) bool {
	exe = strings.TrimSuffix(filepath.ToSlash(exe), " (deleted)") // Linux says so after an update
	switch base := exe[strings.LastIndexByte(exe, '/')+1:]; {
	case base == "claude" || base == "claude.exe" || claudeVersions().MatchString(exe):
		// The binary is its own search tools too, under their names.
		return len(argv) == 0 || !claudeTools[filepath.Base(argv[0])]
	case base == "node" || base == "bun" || base == "nodejs":
		return len(argv) > 0 && argv[0] == "claude" ||
			len(argv) > 1 && strings.HasSuffix(filepath.ToSlash(argv[1]), "/@anthropic-ai/claude-code/cli.js")
	}
	return false
}

var claudeTools = map[string]bool{"rg": true, "ugrep": true, "bfs": true}

// claudeLifts are the arguments by which Claude may do more without asking, or listens to somebody else:
// permissions, further folders, settings, servers, plugins and agents (which bring hooks and rules).
var claudeLifts = map[string]bool{
	"--allowedTools": true, "--allowed-tools": true, "--add-dir": true, "--settings": true,
	"--setting-sources": true, "--mcp-config": true, "--permission-prompt-tool": true,
	"--permission-prompts": true, "--permission-mode": true, "--plugin-dir": true, "--plugin-url": true,
	"--agents": true, "--remote-control": true,
}

// claudeModes are permission modes that allow no more than the default.
var claudeModes = map[string]bool{"default": true, "manual": true, "plan": true, "dontAsk": true}

func (claude) Lifts(args []string) []string {
	var lifts []string
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		dangerous := strings.HasPrefix(name, "--") && strings.Contains(name, "dangerously")
		if !dangerous && !claudeLifts[name] {
			continue
		}
		end := i + 1
		for !dangerous && !joined && end < len(args) && !strings.HasPrefix(args[end], "-") {
			end++ // such an argument takes values up to the next one
		}
		if !joined && end > i+1 {
			value = args[i+1]
		}
		if name == "--permission-mode" && claudeModes[value] {
			continue
		}
		lifts = append(lifts, args[i:end]...)
		i = end - 1
	}
	return lifts
}

// Runs is false: Claude asks before it runs what a task tells it, or was told not to.
func (claude) Runs(string) bool { return false }

// Quit: /exit as a line; it works while a turn runs, too. The process ends within 2 to 4 s of it (2.1.332).
// Two C-c in a row are not sure: one of two tries at an empty line left it running, and they quit in spite of
// a draft.
func (claude) Quit() Quit { return Quit{Line: "/exit"} }

// Trial: a typed /exit would stand in the person's history of prompts. At a signal Claude runs the hooks of its end, too, and keeps
// no conversation in which nobody has said anything (2.1.332).
func (claude) Trial(l Launch) (Launch, Quit) { return l, Quit{} }

func (claude) Forget(string) []string { return nil }

// calledAs is what the hook command names: how we were called, and the file behind that.
func calledAs() []string {
	var names []string
	if filepath.IsAbs(os.Args[0]) {
		names = append(names, os.Args[0])
	}
	if exe, err := os.Executable(); err == nil {
		names = append(names, exe)
	}
	return names
}

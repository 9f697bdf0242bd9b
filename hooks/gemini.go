package hooks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// gemini is the Gemini CLI: measured on 0.61.0, the npm package on node. It takes no hooks with a launch: settings of a launch
// come from a file that root alone may have written, an extension has to be installed. So its agents are heard where st hooks
// install has put the hooks into the person's settings; without them a start is unknown, and so is what the agent does.
type gemini struct {
	// selves are the names under which this very program may be called by its absolute path.
	selves func() []string
}

func init() { register(gemini{selves: calledAs}) }

func (gemini) Name() string    { return "gemini" }
func (gemini) Program() string { return "gemini" }

// Unheard: see gemini.
func (gemini) Unheard() bool { return true }

// geminiParent are the names by which Gemini tells its children whose they are. One that inherits GEMINI_CLI_NO_RELAUNCH does
// not start itself again where its settings want that, and ends.
var geminiParent = []string{
	"GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_PLANS_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR",
}

// Marks are those of these names that no person sets.
func (gemini) Marks() []string { return geminiParent[:1] }

// geminiUnfit are arguments with which Gemini is no agent in its pane, or one that can't be told apart.
var geminiUnfit = map[string]string{
	"--prompt":                    "it has no input line",
	"--output-format":             "it has no input line",
	"--list-extensions":           "it has no input line",
	"--list-sessions":             "it has no input line",
	"--delete-session":            "it has no input line",
	"--help":                      "it has no input line",
	"--version":                   "it has no input line",
	"--acp":                       "it has no input line",
	"--experimental-acp":          "it has no input line",
	"--screen-reader":             "its screen can't be read then",
	"--prompt-interactive":        "it would begin with a prompt that is not the task",
	"--worktree":                  "it leaves its folder; give the worktree to st: --worktree",
	"--sandbox":                   "its hooks would run in there, without st",
	"--model":                     "give the model to st: --model",
	"--resume":                    "st worker restart takes a conversation up again",
	"--session-id":                "st worker restart takes a conversation up again",
	"--session-file":              "st worker restart takes a conversation up again",
	"--fake-responses":            "it would not work",
	"--fake-responses-non-strict": "it would not work",
	"--":                          "what follows would be a prompt",
}

// geminiShort are the short names of flags.
var geminiShort = map[string]string{
	"-m": "--model", "-p": "--prompt", "-i": "--prompt-interactive", "-w": "--worktree", "-s": "--sandbox", "-y": "--yolo", "-e": "--extensions",
	"-l": "--list-extensions", "-r": "--resume", "-o": "--output-format", "-d": "--debug", "-h": "--help", "-v": "--version",
}

// geminiValued are the flags that take a value, which may stand apart.
var geminiValued = flagSet{
	"--model": 1, "--prompt": 1, "--prompt-interactive": 1, "--worktree": 1, "--approval-mode": 1, "--policy": 1, "--admin-policy": 1,
	"--allowed-mcp-server-names": 1, "--allowed-tools": 1, "--extensions": 1, "--resume": 1, "--session-file": 1, "--session-id": 1,
	"--delete-session": 1, "--include-directories": 1, "--output-format": 1, "--fake-responses": 1, "--fake-responses-non-strict": 1,
	"--record-responses": 1,
}

// geminiFlag takes an argument apart. Gemini takes --approvalMode for --approval-mode, too.
func geminiFlag(arg string) (name, value string, joined bool) {
	name, value, joined = strings.Cut(arg, "=")
	if long, ok := geminiShort[name]; ok {
		return long, value, joined
	}
	if !strings.HasPrefix(name, "--") {
		return name, value, joined
	}
	var kebab strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			kebab.WriteByte('-')
		}
		kebab.WriteRune(unicode.ToLower(r))
	}
	return kebab.String(), value, joined
}

// geminiArg is one argument with its value.
type geminiArg struct {
	name, value string
	words       []string // as they were given
}

// geminiArgs reads an argument list. missing says that the last one's value is not there.
func geminiArgs(args []string) (list []geminiArg, missing bool) {
	for i := 0; i < len(args); i++ {
		a := geminiArg{words: args[i : i+1]}
		var joined bool
		a.name, a.value, joined = geminiFlag(args[i])
		if geminiValued[a.name] > 0 && !joined {
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") {
				missing = missing || i+1 == len(args)
			} else {
				i++
				a.value, a.words = args[i], args[i-1:i+1]
			}
		}
		list = append(list, a)
	}
	return list, missing
}

func (gemini) Launch(s Spec) (Launch, error) {
	if err := geminiFit(s.Args); err != nil {
		return Launch{}, err
	}
	argv := []string{s.Program}
	if in := (gemini{}).ReadsIn(s.Log); s.Copy != "" && (in == "" || !strings.HasPrefix(s.Copy, in+"/")) {
		// Gemini reads no file outside of the folders that it works in. This is the folder of all task copies, so that a
		// person who has it remembered as trusted is asked once.
		argv = append(argv, "--include-directories", filepath.Dir(filepath.Dir(s.Copy)))
	}
	if s.Model != "" {
		argv = append(argv, "--model", s.Model)
	}
	if s.Resume != "" {
		argv = append(argv, gemini{}.Resume(s.Resume)...)
	}
	return Launch{Argv: append(argv, s.Args...), Unset: geminiParent}, nil
}

// geminiFit refuses arguments that would make something else of the agent. Short flags that stand together are not taken apart.
func geminiFit(args []string) error {
	list, missing := geminiArgs(args)
	for _, a := range list {
		if why, ok := geminiUnfit[a.name]; ok {
			return fmt.Errorf("gemini can't be started with %s: %s", a.words[0], why)
		}
		switch {
		case !strings.HasPrefix(a.name, "-"):
			return fmt.Errorf("gemini can't be started with the argument %q: it would be a prompt or a subcommand", a.words[0])
		case !strings.HasPrefix(a.name, "--"):
			return fmt.Errorf("gemini can't be started with %s: write each flag by itself, with its long name", a.words[0])
		}
	}
	if missing {
		return fmt.Errorf("gemini can't be started with %s: its value is missing", args[len(args)-1])
	}
	return nil
}

// PassEnv names what Gemini reads of a person's shell: where its configuration lies, how it signs in and to whom it speaks.
func (gemini) PassEnv() []string {
	return []string{
		"GEMINI_API_KEY", "GEMINI_MODEL", "GEMINI_SANDBOX", "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
		"GEMINI_CLI_TRUSTED_FOLDERS_PATH", "GOOGLE_API_KEY", "GOOGLE_CLOUD_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_*",
		"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT", "NODE_EXTRA_CA_CERTS",
	}
}

// ReadsIn: Gemini reads nothing outside of the folders that it works in, and no file there that git ignores, but what lies in its
// own folder for the project: that in which its log lies in chats/ (0.61.0).
func (gemini) ReadsIn(log string) string {
	if chats := filepath.Dir(log); filepath.Base(chats) == "chats" {
		return filepath.Dir(chats)
	}
	return ""
}

func (gemini) Resume(conversation string) []string { return []string{"--resume", conversation} }

// geminiOwn are the arguments of a process behind those of node and the script's path.
func geminiOwn(argv []string) []string {
	if n := slices.IndexFunc(argv, geminiScript); n >= 0 {
		return argv[n+1:]
	}
	return argv
}

// geminiScript tells that an argument of node is the program: the link in a folder of programs, or the file behind it.
func geminiScript(arg string) bool {
	arg = filepath.ToSlash(arg)
	return strings.HasSuffix(arg, "/bin/gemini") || strings.HasSuffix(arg, "/.bin/gemini") || strings.HasSuffix(arg, "/@google/gemini-cli/bundle/gemini.js")
}

// Resumed is the id behind --resume; without one it is the last, or of a number in a list.
func (gemini) Resumed(argv []string) (string, bool) {
	list, _ := geminiArgs(geminiOwn(argv))
	for _, a := range list {
		if a.name == "--resume" {
			if uuid.Validate(a.value) == nil {
				return a.value, true
			}
			return "", true
		}
	}
	return "", false
}

// geminiKept are flags of a person that hold for the conversation.
var geminiKept = map[string]bool{
	"--approval-mode": true, "--yolo": true, "--include-directories": true, "--extensions": true, "--allowed-mcp-server-names": true,
	"--allowed-tools": true, "--policy": true, "--admin-policy": true, "--skip-trust": true, "--debug": true,
}

func (gemini) Kept(argv []string) (model string, args []string) {
	list, _ := geminiArgs(geminiOwn(argv))
	for _, a := range list {
		switch {
		case a.name == "--model":
			model = a.value
		case geminiKept[a.name]:
			args = append(args, a.words...)
		}
	}
	return model, args
}

// geminiPlain are the subcommands that run no agent.
var geminiPlain = map[string]bool{
	"mcp": true, "extensions": true, "extension": true, "skills": true, "skill": true, "hooks": true, "hook": true, "gemma": true,
}

// Owns knows the process that is the agent. Gemini starts itself once more, with more memory for node: the first process only
// waits. The second has node's whole path as its name, or a flag of node before the script; the first one neither.
func (gemini) Owns(exe string, argv []string) bool {
	exe = strings.TrimSuffix(filepath.ToSlash(exe), " (deleted)") // Linux says so after an update
	switch exe[strings.LastIndexByte(exe, '/')+1:] {
	case "node", "nodejs", "node.exe":
	default:
		return false
	}
	n := slices.IndexFunc(argv, geminiScript)
	if n < 1 || slices.ContainsFunc(argv[1:n], func(a string) bool { return !strings.HasPrefix(a, "-") }) {
		return false // another script, with such a path among its arguments
	}
	if n == 1 && !filepath.IsAbs(argv[0]) {
		return false
	}
	list, _ := geminiArgs(argv[n+1:])
	return len(list) == 0 || !geminiPlain[list[0].name]
}

// geminiHarmless are the arguments by which Gemini may do no more.
var geminiHarmless = map[string]bool{"--model": true, "--debug": true, "--resume": true, "--session-id": true, "--prompt": true, "--prompt-interactive": true}

// Lifts are all others: further folders, policies, servers, extensions, and what is not known here.
func (gemini) Lifts(args []string) []string {
	var lifts []string
	list, _ := geminiArgs(geminiOwn(args))
	for _, a := range list {
		narrow := a.name == "--approval-mode" && (a.value == "default" || a.value == "plan")
		if !geminiHarmless[a.name] && !narrow && strings.HasPrefix(a.name, "-") {
			lifts = append(lifts, a.words...)
		}
	}
	return lifts
}

// Runs is false: Gemini asks before it runs a command, or was told not to.
func (gemini) Runs(string) bool { return false }

// Quit: two C-c at an empty line end it within half a second. A line /quit would be pasted, and where Enter follows it soon Gemini
// takes the first command of its menu as that was before: a /clear was seen (0.61.0).
func (gemini) Quit() Quit { return Quit{Keys: []string{"C-c", "C-c"}} }

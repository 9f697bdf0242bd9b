package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// codex is the Codex CLI: measured on 0.171.0, the npm package, whose node script starts the native program.
type codex struct {
	// selves are the names under which this very program may be called by its absolute path.
	selves func() []string
}

func init() { register(codex{selves: calledAs}) }

func (codex) Name() string    { return "codex" }
func (codex) Program() string { return "codex" }

// Mute: Codex calls no hook before its first prompt, a ready input line is all there is to know.
func (codex) Mute() bool { return true }

// Deaf: a command that runs for more than about 10 s is left to itself; when it ends after the turn, nothing brings
// what it printed to the agent.
func (codex) Deaf() bool { return true }

// codexParent are the names by which Codex tells a tool's command whose it is.
var codexParent = []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX*", "CODEX_PERMISSION_PROFILE", "CODEX_NETWORK_*", codexHooks}

// Marks are those of these names that no person sets.
func (codex) Marks() []string { return codexParent[:4] }

// codexHooks says in an agent's environment that its hooks came with its launch. Codex runs the same command twice
// where it is installed too: the installed one is silent then.
const (
	codexHooks  = "ST_HOOKS"
	codexLaunch = "launch"
)

// Beside tells that this hook call is a second one for the same event: of the installed hooks, beside those of the
// launch. args stand behind the kind's name in the hook's command.
func (codex) Beside(args []string, getenv func(string) string) bool {
	return getenv(codexHooks) == codexLaunch && !slices.Contains(args, codexLaunch)
}

// codexUnfit are arguments with which Codex is no agent in its pane, or one whose hooks can't be told apart.
var codexUnfit = map[string]string{
	"--remote":                "its turns run elsewhere",
	"--remote-auth-token-env": "its turns run elsewhere",
	"--strict-config":         "it refuses what st sets for the launch",
	"--worktree":              "it leaves its folder",
	"-C":                      "give the folder to st: --dir",
	"--cd":                    "give the folder to st: --dir",
	"-h":                      "it has no input line",
	"--help":                  "it has no input line",
	"-V":                      "it has no input line",
	"--version":               "it has no input line",
	"--no-alt-screen":         "its screen can't be read then",
	"-m":                      "give the model to st: --model",
	"--model":                 "give the model to st: --model",
	"--":                      "what follows would be a prompt",
}

func (codex) Launch(s Spec) (Launch, error) {
	if err := codexFit(s.Args); err != nil {
		return Launch{}, err
	}
	own, err := codexSessionHooks(hookCommand(s.Self, "codex") + " " + codexLaunch)
	if err != nil {
		return Launch{}, err
	}
	// Under the shared daemon hooks and tools have the environment of the pane that started it first.
	argv := append([]string{s.Program, "--no-daemon"}, own...)
	if s.Model != "" {
		argv = append(argv, "--model", s.Model)
	}
	argv = append(argv, s.Args...)
	if s.Resume != "" { // flags before the subcommand count for it
		argv = append(argv, codex{}.Resume(s.Resume)...)
	}
	return Launch{
		Argv:  argv,
		Env:   map[string]string{codexHooks: codexLaunch},
		Unset: codexParent,
	}, nil
}

// codexFit refuses arguments that would make something else of the agent: those in codexUnfit, settings of hooks,
// and words that are no flag's value, since such a word is a subcommand or a prompt.
func codexFit(args []string) error {
	for i := 0; i < len(args); i++ {
		name, value, joined := codexFlag(args[i])
		if why, ok := codexUnfit[name]; ok {
			return fmt.Errorf("codex can't be started with %s: %s", name, why)
		}
		if !strings.HasPrefix(name, "-") {
			return fmt.Errorf("codex can't be started with the argument %q: it would be a subcommand or a prompt", args[i])
		}
		if !codexValued[name] {
			continue
		}
		if !joined {
			if i++; i == len(args) {
				return fmt.Errorf("codex can't be started with %s: its value is missing", name)
			}
			value = args[i]
		}
		if codexSetting[name] && codexHookKey(value) || codexFeature[name] && value == "hooks" {
			return fmt.Errorf("codex can't be started with %s %s: st needs the hooks as they are", name, value)
		}
	}
	return nil
}

// codexFlag takes an argument apart: --name=value, -nvalue, -n=value, or a name alone.
func codexFlag(arg string) (name, value string, joined bool) {
	if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
		return arg[:2], strings.TrimPrefix(arg[2:], "="), true
	}
	return strings.Cut(arg, "=")
}

// codexHookKey tells that a setting, key=value, is about hooks.
func codexHookKey(setting string) bool {
	key, _, _ := strings.Cut(setting, "=")
	key = strings.NewReplacer(`"`, "", `'`, "", " ", "").Replace(key)
	return key == "hooks" || strings.HasPrefix(key, "hooks.") || key == "features" || key == "features.hooks" || key == "features.daemon_auto_start"
}

var (
	codexSetting = map[string]bool{"-c": true, "--config": true}
	codexFeature = map[string]bool{"--enable": true, "--disable": true}
	// codexValued are the flags that take a value.
	codexValued = map[string]bool{
		"-c": true, "--config": true, "--enable": true, "--disable": true, "-i": true, "--image": true, "-m": true, "--model": true,
		"--local-provider": true, "-p": true, "--profile": true, "-s": true, "--sandbox": true, "-C": true, "--cd": true,
		"--add-dir": true, "-a": true, "--ask-for-approval": true, "--remote": true, "--remote-auth-token-env": true,
	}
)

// codexSessionHooks are arguments that give one launch its hooks, and the trust they need: settings of a launch have
// a path of their own in the keys of trust. The person's own hooks and their trust stay as they are beside them.
func codexSessionHooks(command string) ([]string, error) {
	var args, trust []string
	for _, e := range codexEvents {
		hash, err := codexTrust(e, command)
		if err != nil {
			return nil, err
		}
		args = append(args, "-c", fmt.Sprintf("hooks.%s=[{hooks=[{type=%q,command=%s,timeout=%d}]}]", e.name, "command", tomlQuoted(command), e.timeout))
		trust = append(trust, fmt.Sprintf(`"/<session-flags>/config.toml:%s:0:0"={trusted_hash=%q}`, e.snake, hash))
	}
	return append(args, "-c", "hooks.state={"+strings.Join(trust, ",")+"}"), nil
}

// PassEnv names what Codex reads of a person's shell: where its configuration lies and how it signs in. A provider's
// env_key of another name is passed on by pass_env in config.toml.
func (codex) PassEnv() []string {
	return []string{
		"CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE", "OPENAI_*", "AZURE_OPENAI_*",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

func (codex) Resume(conversation string) []string { return []string{"resume", conversation} }

// codexKept are flags of a person that hold for the conversation.
var codexKept = flagSet{
	"-s": 1, "--sandbox": 1, "-a": 1, "--ask-for-approval": 1, "--search": 0, "--add-dir": 1, "-p": 1, "--profile": 1, "--oss": 0,
	"--local-provider": 1, "--approve-for-me": 0, "--yolo": 0, "--dangerously-bypass-approvals-and-sandbox": 0,
}

// Kept: a value of -c may be a key. Codex keeps the model with the conversation, but for one that a flag names.
func (codex) Kept(argv []string) (model string, args []string) {
	model, args = codexKept.kept(argv, "--model")
	if short, _ := codexKept.kept(argv, "-m"); model == "" {
		model = short
	}
	return model, args
}

// Owns knows the native program; the node script that starts it is a wrapper. The program is also its own sandbox
// and tools, under other names in argv[0], and has subcommands that are no agents.
func (codex) Owns(exe string, argv []string) bool {
	exe = strings.TrimSuffix(filepath.ToSlash(exe), " (deleted)") // Linux says so after an update
	base := exe[strings.LastIndexByte(exe, '/')+1:]
	if base != "codex" && base != "codex.exe" {
		return false
	}
	if len(argv) == 0 {
		return true
	}
	if name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(argv[0])), ".exe"); name != "codex" {
		return false
	}
	return !codexPlain[codexCommand(argv[1:])]
}

// codexPlain are the subcommands that run no agent.
var codexPlain = map[string]bool{
	"login": true, "logout": true, "mcp": true, "plugin": true, "remote-control": true, "completion": true, "update": true,
	"doctor": true, "sandbox": true, "debug": true, "apply": true, "a": true, "queue": true, "archive": true, "delete": true,
	"migrate-rollouts": true, "migrate-nfs-db": true, "unarchive": true, "exec-server": true, "features": true, "help": true,
}

// Shared tells that a process serves the turns of several agents, each in a pane of its own: what runs below it has
// the environment and the ancestry of whichever started it first.
func (codex) Shared(argv []string) bool {
	return len(argv) > 0 && codexCommand(argv[1:]) == "app-server"
}

// Seat: one with its own server, or that runs without a window, takes part in no shared one.
func (c codex) Seat(argv []string) bool {
	return !c.Shared(argv) && !slices.Contains(argv, "--no-daemon") && !codexNoWindow[codexCommand(argv[min(1, len(argv)):])]
}

// Resumed is the id behind the subcommand resume. Without one a person chooses, or it is the last.
func (codex) Resumed(argv []string) (string, bool) {
	n := slices.Index(argv, "resume")
	if n < 1 || codexCommand(argv[1:]) != "resume" {
		return "", false
	}
	if id := codexCommand(argv[n+1:]); uuid.Validate(id) == nil {
		return id, true
	}
	return "", true
}

// Recorded is the conversation whose log a Codex holds open. It begins one with its first prompt.
func (codex) Recorded(pid int, _ func(string) string) (conversation, log string) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return "", ""
	}
	for _, f := range files {
		path, err := os.Readlink(f)
		m := codexRollout().FindStringSubmatch(path)
		switch {
		case err != nil || m == nil || m[1] == conversation:
		case conversation != "":
			return "", "" // several: which of them it runs can't be told
		default:
			conversation, log = m[1], path
		}
	}
	return conversation, log
}

// codexRollout is how the log of a conversation is called.
var codexRollout = pattern(`/rollout-[^/]*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`)

func (codex) Last() []string { return []string{"resume", "--last"} }

// codexNoWindow are the subcommands that run an agent without an input line.
var codexNoWindow = map[string]bool{"exec": true, "e": true, "review": true, "cloud": true}

// ThreadEnv is the variable by which a tool's command knows its conversation.
func (codex) ThreadEnv() string { return "CODEX_THREAD_ID" }

// codexCommand is the first word of arguments that is no flag: the subcommand, or a prompt.
func codexCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return ""
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		case codexValued[args[i]]:
			i++
		}
	}
	return ""
}

// codexLifts are the flags by which Codex may do more without asking, or listens to somebody else.
var codexLifts = map[string]bool{
	"--approve-for-me": true, "--search": true, "--add-dir": true, "-p": true, "--profile": true, "--enable": true, "--disable": true,
	"-c": true, "--config": true, "--oss": true, "--local-provider": true, "-s": true, "--sandbox": true, "-a": true, "--ask-for-approval": true,
}

func (codex) Lifts(args []string) []string {
	var lifts []string
	for i := 0; i < len(args); i++ {
		name, value, joined := codexFlag(args[i])
		dangerous := strings.HasPrefix(name, "--") && (strings.Contains(name, "dangerously") || name == "--yolo")
		if !dangerous && !codexLifts[name] {
			continue
		}
		end := i + 1
		if !joined && codexValued[name] && end < len(args) {
			value = args[end]
			end++
		}
		if !codexHarms(name, value) {
			i = end - 1
			continue
		}
		lifts = append(lifts, args[i:end]...)
		i = end - 1
	}
	return lifts
}

// codexHarms is false for values with which such a flag lifts nothing: a narrower sandbox, no asking, how hard the
// model thinks.
func codexHarms(name, value string) bool {
	switch name {
	case "-s", "--sandbox":
		return value != "read-only" && value != "workspace-write"
	case "-a", "--ask-for-approval":
		return value != "on-request" && value != "never" && value != "untrusted"
	case "-c", "--config":
		key, _, _ := strings.Cut(value, "=")
		return !slices.Contains([]string{"model_reasoning_effort", "model_reasoning_summary", "model_verbosity", "hide_agent_reasoning"}, key)
	}
	return true
}

// Runs is false: Codex runs commands in its sandbox, and asks before it leaves that.
func (codex) Runs(string) bool { return false }

// Quit: /quit as a line. C-c at an empty line quits, too, but clears a draft and stops a turn.
func (codex) Quit() Quit { return Quit{Line: "/quit"} }

// Trial: after a typed /quit Codex keeps an empty conversation, and each start that shows tips counts them in config.toml
// (0.171.0).
func (codex) Trial(l Launch) (Launch, Quit) {
	l.Argv = append(slices.Clone(l.Argv), "-c", "tui.show_tooltips=false")
	return l, Quit{Keys: []string{"C-c"}}
}

// Forget: the hook of the end makes Codex keep the conversation that it tells of, although nobody has said anything in it.
func (codex) Forget(conversation string) []string { return []string{"delete", "--force", conversation} }

// Look reads Codex's screen.
func (codex) Look(v View) Screen { return codexLook(v) }

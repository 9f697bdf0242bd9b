package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"st/hooks/demo"
	"st/orch"
)

// A given kind is one that a person has described in a file, ST_HOME/agents/NAME.toml: a program with an input line and
// nothing else that st could ask. It counts once the person has trusted just that text. What its agents were told is never
// proved, and what they do stays unknown until they report or end.

// Given is such a file.
type Given struct {
	// Argv is the program, as it is looked up in PATH, and its arguments.
	Argv []string `toml:"argv"`
	// Mark is a pattern for what stands before the input on the input line, from the line's first column on.
	Mark string `toml:"mark"`
	// Submit are the keys that submit what stands in the input line; none is Enter.
	Submit []string `toml:"submit"`
	// TurnEnd says how a turn ends: TurnByMark, or "" where nothing tells.
	TurnEnd string `toml:"turn_end"`
	// Resume are the arguments, in place of those of Argv, with which a conversation is taken up again. Conversation stands for
	// its name in them, and where Argv or Env give it to a new one.
	Resume []string `toml:"resume"`
	// Quit is the line by which the program is asked to end; "" where it is signalled.
	Quit string `toml:"quit"`
	// Env is added to its environment, PassEnv names what it takes from the shell of whoever starts it.
	Env     map[string]string `toml:"env"`
	PassEnv []string          `toml:"pass_env"`
}

// TurnByMark: while a turn runs no input line is shown, and when it has ended one is.
const TurnByMark = "mark"

// Conversation stands for the name of a conversation, which st makes up.
const Conversation = "{conversation}"

// TurnsByMark tells that the input line of a kind's program is away while a turn runs.
func TurnsByMark(k Kind) bool {
	g, ok := k.(givenKind)
	return ok && g.TurnEnd == TurnByMark
}

// NamesConversation tells that a kind's program takes the name of its conversation from us.
func NamesConversation(k Kind) bool {
	g, ok := k.(givenKind)
	return ok && len(g.Given.Resume) > 0
}

// givenKind is a kind that was read from a file.
type givenKind struct {
	Given
	name string
	mark *regexp.Regexp
}

// givenKinds are those that were read, by name.
type givenKinds struct {
	mu   sync.Mutex
	home string // ST_HOME, "" before UseHome
	read map[string]givenKind
}

var given givenKinds

// UseHome says where given kinds are described: in the folder agents of that ST_HOME.
func UseHome(home string) {
	given.mu.Lock()
	defer given.mu.Unlock()
	given.home, given.read = home, map[string]givenKind{}
}

// lookup finds a kind, with anew as its file stands now; else as it was read before, since an agent goes on as it was
// started.
func (g *givenKinds) lookup(name string, anew bool) (Kind, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k, ok := g.read[name]; ok && !anew {
		return k, nil
	}
	var k givenKind
	err := fs.ErrNotExist
	if g.home != "" {
		k, err = trusted(g.home, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no agent kind is called %q (there are %s)", name, strings.Join(append(Names(), describedIn(g.home)...), ", "))
	}
	if err != nil {
		return nil, err
	}
	g.read[name] = k
	return k, nil
}

// passEnv lists what those that were read take from a shell.
func (g *givenKinds) passEnv() (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range g.read {
		names = append(names, k.Given.PassEnv...)
	}
	return names
}

// IsGiven tells that a person has described a kind.
func IsGiven(k Kind) bool {
	_, ok := k.(givenKind)
	return ok
}

// GivenNames lists the kinds that are described in ST_HOME, trusted or not.
func GivenNames() []string {
	given.mu.Lock()
	defer given.mu.Unlock()
	return describedIn(given.home)
}

func describedIn(home string) (names []string) {
	files, err := filepath.Glob(filepath.Join(home, "agents", "*.toml"))
	if err != nil || home == "" {
		return nil
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".toml"); givenName.MatchString(name) && kinds[name] == nil {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// givenName is what a kind may be called: it is part of a path.
var givenName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,30}$`)

// trusted reads a kind that a person trusts as it stands.
func trusted(home, name string) (k givenKind, err error) {
	k, hash, err := describe(home, name)
	if err != nil {
		return k, err
	}
	was, err := ownText(trustPath(home, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k, untrusted(home, name, "nobody has trusted it")
	case err != nil:
		return k, err
	case strings.TrimSpace(string(was)) != hash:
		return k, untrusted(home, name, "it is not as it was when somebody trusted it")
	}
	return k, nil
}

func untrusted(home, name, why string) *orch.Error {
	return &orch.Error{
		Code: "kind_not_trusted", Message: fmt.Sprintf("agent kind %q of %s: %s", name, givenPath(home, name), why),
		Hint: "a person reads it and trusts it:", Next: []string{"st kind trust " + name},
	}
}

func givenPath(home, name string) string { return filepath.Join(home, "agents", name+".toml") }
func trustPath(home, name string) string { return filepath.Join(home, "agents", name+".trust") }

// Describe reads what stands in the file of a kind, trusted or not, with the hash of its text (SHA-256, hex). fs.ErrNotExist where
// there is none, an *orch.Error (kind_bad) where it describes no kind.
func Describe(home, name string) (Given, string, error) {
	k, hash, err := describe(home, name)
	return k.Given, hash, err
}

func describe(home, name string) (k givenKind, hash string, err error) {
	if !givenName.MatchString(name) {
		return k, "", fmt.Errorf("agent kind %q: %w", name, fs.ErrNotExist)
	}
	path := givenPath(home, name)
	text, err := ownText(path)
	if err != nil {
		return k, "", err
	}
	k.name = name
	if err := k.parse(string(text)); err != nil {
		return k, "", &orch.Error{
			Code: "kind_bad", Message: fmt.Sprintf("%s: %v", path, err), Hint: "the keys are argv, mark, submit, turn_end, resume, quit, env, pass_env",
			Next: []string{"${EDITOR:-vi} " + ShellWord(path), "st kind trust " + name},
		}
	}
	sum := sha256.Sum256(text)
	return k, hex.EncodeToString(sum[:]), nil
}

// parse reads the text of a file. A key that nobody reads is refused: a person who mistypes a rule must not believe that
// it holds.
func (k *givenKind) parse(text string) error {
	if err := shownText(text); err != nil {
		return err
	}
	meta, err := toml.Decode(text, &k.Given)
	if err != nil {
		return err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("unknown key %s", unknown[0])
	}
	if err := k.Given.check(); err != nil {
		return err
	}
	switch {
	case len(k.Argv) == 0 || k.Argv[0] == "":
		return errors.New("argv names no program")
	case k.Mark == "":
		return errors.New("mark is missing: by what an input line begins")
	case k.TurnEnd != "" && k.TurnEnd != TurnByMark:
		return fmt.Errorf("turn_end is %q: it is \"mark\", or left out where nothing tells", k.TurnEnd)
	case len(k.Given.Resume) > 0 && !holds(k.Given.Resume):
		return errors.New("resume does not say which conversation: write " + Conversation + " into it")
	case len(k.Given.Resume) > 0 && !holds(k.Argv[1:]) && !holds(slices.Collect(maps.Values(k.Env))):
		return errors.New("resume: a new conversation has to get its name too: write " + Conversation + " into argv or env")
	case len(k.Given.Resume) == 0 && (holds(k.Argv) || holds(slices.Collect(maps.Values(k.Env)))):
		return errors.New(Conversation + " is of use with resume only")
	}
	for _, key := range k.Given.Submit {
		if !submitKey().MatchString(key) {
			return fmt.Errorf("submit: %q is no key that submits: those are Enter, Tab, Escape, Space, F1 to F12, or a letter with C- or M- before it", key)
		}
	}
	k.mark, err = regexp.Compile("^(?:" + k.Mark + ")")
	if err == nil && k.mark.MatchString("") {
		err = errors.New("mark fits an empty line too, and so any")
	}
	return err
}

// submitKey is a key by its name in the multiplexer that no program takes for text.
var submitKey = pattern(`^(?:(?:[CMS]-)*(?:Enter|Tab|Escape|Space|F(?:[1-9]|1[0-2]))|(?:[CM]-)+[a-zA-Z])$`)

// holds tells that one of the texts has the place of a conversation's name.
func holds(texts []string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, Conversation) })
}

// naming are the texts with that name in its places.
func naming(texts []string, conversation string) []string {
	named := make([]string, len(texts))
	for i, t := range texts {
		named[i] = strings.ReplaceAll(t, Conversation, conversation)
	}
	return named
}

// TrustKind keeps that a person trusts the text with that hash, as Describe tells it.
func TrustKind(home, name, hash string) error {
	return WriteOwn(trustPath(home, name), []byte(hash+"\n"))
}

// WriteOwn writes a 0600 file whole, by way of another name in its folder.
func WriteOwn(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // made 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	_, err = f.Write(data)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ownText reads a file that only we can have written: it and its folder are ours, no links, and nobody else may write.
func ownText(path string) ([]byte, error) {
	for _, p := range []string{filepath.Dir(path), path} {
		info, err := os.Lstat(p)
		if err != nil {
			return nil, err
		}
		bad, mode := loose(info, p != path)
		if bad == "" {
			continue
		}
		e := &orch.Error{Code: "kind_bad", Message: fmt.Sprintf("%s: %s", p, bad), Hint: "what st runs has to be yours alone:"}
		if e.Next = []string{"chmod " + mode + " " + ShellWord(p)}; mode == "" {
			e.Hint, e.Next = "a plain file of yours in a folder of yours is wanted there, and no link:", []string{"ls -ld " + ShellWord(p)}
		}
		return nil, e
	}
	return os.ReadFile(path)
}

// loose says what makes a file or a folder no safe place, "" for nothing, and the mode that mends it. Else none does: a
// chmod would follow a link to what it leads to.
func loose(info os.FileInfo, folder bool) (bad, mode string) {
	mode = "600"
	if folder {
		mode = "700"
	}
	switch {
	case folder && !info.IsDir():
		return "not a folder", ""
	case !folder && !info.Mode().IsRegular():
		return "not a plain file", ""
	case !ownFile(info):
		return "it is somebody else's", ""
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("others may get at it (mode %04o)", info.Mode().Perm()), mode
	}
	return "", ""
}

func (k givenKind) Name() string    { return k.name }
func (k givenKind) Program() string { return k.Argv[0] }

// Owns nothing: the program may be an interpreter that runs many things. An agent that st has started is known by its
// process.
func (k givenKind) Owns(string, []string) bool { return false }

// Lifts is all: nobody knows what an argument means to this program.
func (k givenKind) Lifts(args []string) []string { return args }

func (k givenKind) Runs(string) bool { return false }

// PassEnv names what it takes from a person's shell.
func (k givenKind) PassEnv() []string { return k.Given.PassEnv }

func (k givenKind) Launch(s Spec) (Launch, error) {
	if s.Model != "" {
		return Launch{}, fmt.Errorf("agent kind %s takes no --model: its argv says which it uses", k.name)
	}
	args, conversation := naming(k.Argv[1:], s.Conversation), s.Conversation
	if s.Resume != "" {
		args, conversation = k.Resume(s.Resume), s.Resume
	}
	env := map[string]string{}
	for name, value := range k.Env {
		env[name] = strings.ReplaceAll(value, Conversation, conversation)
	}
	return Launch{Argv: slices.Concat([]string{s.Program}, args, s.Args), Env: env}, nil
}

func (k givenKind) Resume(conversation string) []string {
	if len(k.Given.Resume) == 0 {
		return nil
	}
	return naming(k.Given.Resume, conversation)
}

// Submit are the keys that submit a line.
func (k givenKind) Submit() []string {
	if len(k.Given.Submit) == 0 {
		return []string{"Enter"}
	}
	return k.Given.Submit
}

// Resumed is false: its arguments are not read.
func (k givenKind) Resumed([]string) (string, bool) { return "", false }

// Kept is nothing: it would be of no use without a conversation.
func (k givenKind) Kept([]string) (model string, args []string) { return "", nil }

var errNoHooks = errors.New("this kind has no hooks")

func (k givenKind) Trim([]byte) (json.RawMessage, error) { return nil, errNoHooks }
func (k givenKind) Decode(json.RawMessage) (orch.AgentEvent, error) {
	return orch.AgentEvent{}, errNoHooks
}
func (k givenKind) Answer([]byte, Place) []byte         { return nil }
func (k givenKind) Tell(orch.AgentEvent, string) []byte { return nil }
func (k givenKind) Line([]byte) (orch.AgentEvent, bool) { return orch.AgentEvent{}, false }
func (k givenKind) Log() Log                            { return noLog{} }
func (k givenKind) LastAnswer(string) (string, error)   { return "", nil }
func (k givenKind) Quit() Quit                          { return Quit{Line: k.Given.Quit} }

type noLog struct{}

func (noLog) Words([]byte) []string { return nil }
func (noLog) End() []string         { return nil }

// givenRows is over how many rows a line of ours may wrap.
const givenRows = 8

// Look finds the mark at the begin of the cursor's row, or of a row above it that goes on down to it without a break.
func (k givenKind) Look(v View) Screen {
	rows := textsOf(cellsOf(v.Rows))
	if v.CursorY < 0 || v.CursorY >= len(rows) || demoBlank(rows[:v.CursorY+1]) {
		return Screen{Name: Starting}
	}
	rows = slices.Clone(rows)
	// A capture has no trailing spaces, but the cursor stands behind those that are there.
	rows[v.CursorY] = padded(rows[v.CursorY], v.CursorX)
	draft := ""
	for y := v.CursorY; y >= 0 && y > v.CursorY-givenRows; y-- {
		if at := k.mark.FindStringIndex(rows[y]); at != nil {
			if y == v.CursorY && v.CursorX < demo.Width(rows[y][:at[1]]) {
				break
			}
			return Screen{Name: Ready, Draft: strings.TrimRight(rows[y][at[1]:]+draft, " ")}
		}
		draft = rows[y] + draft
		if y > 0 && demo.Width(strings.TrimRight(rows[y-1], " ")) < v.Width-2 {
			break // the row above has ended: what stands here is no part of it
		}
	}
	return Screen{Name: Strange}
}

func padded(row string, width int) string {
	return row + strings.Repeat(" ", max(0, width-demo.Width(row)))
}

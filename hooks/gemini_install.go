package hooks

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
)

// geminiInstall is how st's hooks stand in the settings of a person who uses Gemini (0.61.0).
type geminiInstall struct{}

func init() { settings["gemini"] = geminiInstall{} }

func (geminiInstall) Program() string { return gemini{}.Program() }

func (geminiInstall) Folder(env func(string) string) (string, error) {
	for _, name := range []string{"GEMINI_CLI_HOME", "HOME"} {
		if home := env(name); home != "" {
			return filepath.Abs(filepath.Join(home, ".gemini"))
		}
	}
	return "", errors.New("neither GEMINI_CLI_HOME nor HOME is set")
}

func (geminiInstall) Files(folder string) []string {
	return []string{filepath.Join(folder, "settings.json"), filepath.Join(folder, "policies", "st.toml")}
}

// Emptied: the folder of policies goes with ours where nothing else is in it.
func (geminiInstall) Emptied(folder string) []string {
	return []string{filepath.Join(folder, "policies")}
}

func (geminiInstall) Consents() []Consent {
	return []Consent{{"allow", allowAbout, allowMeans("Gemini")}}
}

// geminiEdit is the two files while they are edited.
type geminiEdit struct {
	setup  Setup
	hooks  *hookFile
	policy string // path
}

func (g geminiInstall) open(s Setup) (*geminiEdit, error) {
	files := g.Files(s.Folder)
	f, err := readJSON(files[0], s.Have[files[0]])
	return &geminiEdit{setup: s, hooks: &hookFile{f, "gemini", s.Self}, policy: files[1]}, err
}

func (g geminiInstall) Install(s Setup) (Texts, error) {
	e, err := g.open(s)
	if err != nil {
		return nil, err
	}
	if text := s.Have[e.policy]; s.gives("allow") && text != nil && !geminiOwnsPolicy(text) {
		return nil, errors.New(e.policy + ": st did not write this file and leaves it alone; rename it: mv " + ShellWord(e.policy) + " " +
			ShellWord(filepath.Join(filepath.Dir(e.policy), "mine.toml")))
	}
	if err := e.hooks.install(geminiEvents); err != nil {
		return nil, err
	}
	texts, err := s.changed(e.hooks.jsonFile)
	if err == nil && s.gives("allow") {
		s.change(texts, e.policy, []byte(geminiPolicy(s.Self)))
	}
	return texts, err
}

func (g geminiInstall) Uninstall(s Setup) (Texts, error) {
	e, err := g.open(s)
	if err != nil {
		return nil, err
	}
	calls, err := e.hooks.calls()
	if err != nil {
		return nil, err
	}
	if err := e.hooks.remove(ours(calls)); err != nil {
		return nil, err
	}
	texts, err := s.changed(e.hooks.jsonFile)
	if err == nil && geminiOwnsPolicy(s.Have[e.policy]) {
		texts[e.policy] = nil
	}
	return texts, err
}

func (g geminiInstall) Installed(s Setup) (Installed, error) {
	e, err := g.open(s)
	if err != nil {
		return Installed{}, err
	}
	var in Installed
	if in.Events, in.programs, err = e.hooks.events(geminiEvents); err != nil {
		return in, err
	}
	policy := s.Have[e.policy]
	in.Consents = []InstalledConsent{{"allow", geminiOwnsPolicy(policy), string(policy) == geminiPolicy(s.Self)}}
	return in, nil
}

// geminiPolicyHead marks a policy file as ours, as a whole.
const geminiPolicyHead = "# Written by `st hooks install --allow`; `st hooks uninstall` removes this file."

// geminiPolicy lets Gemini run an agent's own verbs, by name and by path. A prefix counts where a blank or the command's end
// follows. A rule of the person's for the same commands counts where its priority is higher.
func geminiPolicy(self string) string {
	var prefixes []string
	for _, program := range []string{"st", ShellWord(self)} {
		for _, verb := range Allowed() {
			prefixes = append(prefixes, "  "+strconv.Quote(program+" "+verb))
		}
	}
	return geminiPolicyHead + "\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\n" + strings.Join(prefixes, ",\n") +
		"\n]\ndecision = \"allow\"\npriority = 100\n"
}

func geminiOwnsPolicy(text []byte) bool { return strings.HasPrefix(string(text), geminiPolicyHead) }

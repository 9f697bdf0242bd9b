package hooks

import (
	"errors"
	"path/filepath"
	"strings"
)

// codexInstall is how st's hooks stand in the settings of a person who uses Codex (0.171.0).
type codexInstall struct{}

func init() { settings["codex"] = codexInstall{} }

const codexTrustFlag = "trust-codex"

func (codexInstall) Program() string { return "codex" }

// Folder is named as Codex names it in the keys of its trust: CODEX_HOME with all links followed, the default
// one as it is.
func (codexInstall) Folder(env func(string) string) (string, error) {
	if dir := env("CODEX_HOME"); dir != "" {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", errors.New("CODEX_HOME: " + err.Error()) // Codex doesn't start then either
		}
		return filepath.Abs(real)
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".codex"), nil
	}
	return "", errors.New("neither CODEX_HOME nor HOME is set")
}

func (codexInstall) Files(folder string) []string {
	return []string{
		filepath.Join(folder, "hooks.json"), filepath.Join(folder, "config.toml"), filepath.Join(folder, "rules", "st.rules"),
	}
}

// Emptied: the folder of rules goes with ours where nothing else is in it. Codex makes it anew for the first rule of a
// person's.
func (codexInstall) Emptied(folder string) []string { return []string{filepath.Join(folder, "rules")} }

func (codexInstall) Consents() []Consent {
	return []Consent{
		{"allow", allowAbout, allowMeans("Codex") + "; the allowed ones run outside of its sandbox"},
		{codexTrustFlag, "have Codex trust the hooks of st, so that its dialog about them does not come", "Codex takes the hooks of st for trusted without asking you at its start; hooks run outside of its sandbox"},
	}
}

func (codexInstall) wanted() []wantedHook {
	var wanted []wantedHook
	for _, e := range codexEvents {
		wanted = append(wanted, wantedHook{e.name, e.timeout})
	}
	return wanted
}

// codexEdit is the three files while they are edited.
type codexEdit struct {
	setup  Setup
	hooks  *hookFile
	before []*hookCall
	config *codexConfig
	rules  string // path
}

func (c codexInstall) open(s Setup) (*codexEdit, error) {
	files := c.Files(s.Folder)
	f, err := readJSON(files[0], s.Have[files[0]])
	if err != nil {
		return nil, err
	}
	e := &codexEdit{setup: s, hooks: &hookFile{f, "codex", s.Self}, rules: files[2]}
	if e.before, err = e.hooks.calls(); err != nil {
		return nil, err
	}
	e.config, err = openCodexConfig(files[1], s.Have[files[1]], files[0])
	return e, err
}

func (c codexInstall) Install(s Setup) (Texts, error) {
	e, err := c.open(s)
	if err != nil {
		return nil, err
	}
	if err := e.checkRules(s.gives("allow")); err != nil {
		return nil, err
	}
	was := places(e.before)
	if err := e.hooks.install(c.wanted()); err != nil {
		return nil, err
	}
	after, err := e.hooks.calls()
	if err != nil {
		return nil, err
	}
	if err := e.config.moved(was, after); err != nil {
		return nil, err
	}
	if s.gives(codexTrustFlag) {
		if err := e.config.trust(ours(after)); err != nil {
			return nil, err
		}
	}
	texts, err := e.changed()
	if err == nil && s.gives("allow") {
		s.change(texts, e.rules, []byte(codexRules(s.Self)))
	}
	return texts, err
}

func (c codexInstall) Uninstall(s Setup) (Texts, error) {
	e, err := c.open(s)
	if err != nil {
		return nil, err
	}
	was := places(e.before)
	if err := e.hooks.remove(ours(e.before)); err != nil {
		return nil, err
	}
	after, err := e.hooks.calls()
	if err != nil {
		return nil, err
	}
	if err := e.config.moved(was, after); err != nil {
		return nil, err
	}
	texts, err := e.changed()
	if err == nil && codexOwnsRules(s.Have[e.rules]) {
		texts[e.rules] = nil
	}
	return texts, err
}

func (e *codexEdit) changed() (Texts, error) {
	texts, err := e.setup.changed(e.hooks.jsonFile)
	if err == nil {
		e.setup.change(texts, e.config.path, e.config.written())
	}
	return texts, err
}

func (c codexInstall) Installed(s Setup) (Installed, error) {
	e, err := c.open(s)
	if err != nil {
		return Installed{}, err
	}
	var in Installed
	if in.Events, in.programs, err = e.hooks.events(c.wanted()); err != nil {
		return in, err
	}
	trusted := map[string]bool{}
	for _, call := range ours(e.before) {
		trusted[call.event] = e.config.trusts(call)
	}
	all, some := true, false
	for i := range in.Events {
		t := trusted[in.Events[i].Event]
		in.Events[i].Trusted = &t
		all, some = all && t, some || t
	}
	rules := s.Have[e.rules]
	in.Consents = []InstalledConsent{
		{"allow", codexOwnsRules(rules), string(rules) == codexRules(s.Self)},
		{codexTrustFlag, some, all},
	}
	return in, nil
}

// codexRulesHead marks a rules file as ours, as a whole.
const codexRulesHead = "# Written by `st hooks install --allow`; `st hooks uninstall` removes this file."

// codexRules let Codex run an agent's own verbs outside of its sandbox, by name and by path.
func codexRules(self string) string {
	program := "[" + starlark("st") + ", " + starlark(self) + "]"
	text := codexRulesHead + "\n"
	for _, g := range allowed {
		words := []string{program}
		if g.noun != "" {
			words = append(words, starlark(g.noun))
		}
		verbs := make([]string, len(g.verbs))
		for i, v := range g.verbs {
			verbs[i] = starlark(v)
		}
		words = append(words, "["+strings.Join(verbs, ", ")+"]")
		text += "prefix_rule(pattern = [" + strings.Join(words, ", ") + `], decision = "allow")` + "\n"
	}
	return text
}

// starlark is a string in the language of the rules.
func starlark(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func codexOwnsRules(text []byte) bool { return strings.HasPrefix(string(text), codexRulesHead) }

// checkRules refuses to write over somebody else's rules.
func (e *codexEdit) checkRules(write bool) error {
	if text := e.setup.Have[e.rules]; write && text != nil && !codexOwnsRules(text) {
		return errors.New(e.rules + ": st did not write this file and leaves it alone; rename it: mv " + ShellWord(e.rules) + " " + ShellWord(strings.TrimSuffix(e.rules, "st.rules")+"mine.rules"))
	}
	return nil
}

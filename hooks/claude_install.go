package hooks

import (
	"errors"
	"path/filepath"
	"sort"
)

// claudeInstall is how st's hooks stand in the settings of a person who uses Claude Code (2.1.332).
type claudeInstall struct{}

func init() { settings["claude"] = claudeInstall{} }

func (claudeInstall) Program() string { return claude{}.Program() }

// Least: up to 2.1.73 a settings file with a hook that the program doesn't know is thrown away as a whole and without a
// word, a person's own rules too; from 2.1.104 on that hook alone is left out (measured with 2.0.65, 2.1.15, 2.1.42,
// 2.1.73, 2.1.104, 2.1.136 and 2.1.332).
func (claudeInstall) Least() string { return "2.1.104" }

func (claudeInstall) Folder(env func(string) string) (string, error) {
	if dir := env("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".claude"), nil
	}
	return "", errors.New("neither CLAUDE_CONFIG_DIR nor HOME is set")
}

func (claudeInstall) Files(folder string) []string {
	return []string{filepath.Join(folder, "settings.json")}
}

func (claudeInstall) Consents() []Consent {
	return []Consent{{"allow", allowAbout, allowMeans("Claude Code")}}
}

func (claudeInstall) wanted() []wantedHook {
	var wanted []wantedHook
	for event, seconds := range claudeEvents {
		wanted = append(wanted, wantedHook{event, seconds})
	}
	sort.Slice(wanted, func(i, j int) bool { return wanted[i].event < wanted[j].event })
	return wanted
}

func (c claudeInstall) file(s Setup) (*hookFile, error) {
	path := c.Files(s.Folder)[0]
	f, err := readJSON(path, s.Have[path])
	return &hookFile{f, "claude", s.Self}, err
}

func (c claudeInstall) Install(s Setup) (Texts, error) {
	f, err := c.file(s)
	if err != nil {
		return nil, err
	}
	if err := f.install(c.wanted()); err != nil {
		return nil, err
	}
	if s.gives("allow") {
		if err := claudeAllow(f.jsonFile, s.Self); err != nil {
			return nil, err
		}
	}
	return s.changed(f.jsonFile)
}

func (c claudeInstall) Uninstall(s Setup) (Texts, error) {
	f, err := c.file(s)
	if err != nil {
		return nil, err
	}
	calls, err := f.calls()
	if err != nil {
		return nil, err
	}
	if err := claudeDisallow(f.jsonFile, s.Self, func(claudeGrant) bool { return true }); err != nil {
		return nil, err
	}
	if err := f.remove(ours(calls)); err != nil {
		return nil, err
	}
	return s.changed(f.jsonFile)
}

func (c claudeInstall) Installed(s Setup) (Installed, error) {
	f, err := c.file(s)
	if err != nil {
		return Installed{}, err
	}
	var in Installed
	if in.Events, in.programs, err = f.events(c.wanted()); err != nil {
		return in, err
	}
	rules, _, err := claudeGrants(f.jsonFile, s.Self)
	if err != nil {
		return in, err
	}
	have := map[string]bool{}
	for _, r := range rules {
		have[r.text] = true
	}
	current := true
	for _, r := range claudeWants(s.Self) {
		current = current && have[r]
	}
	in.Consents = []InstalledConsent{{"allow", len(rules) > 0, current}}
	return in, nil
}

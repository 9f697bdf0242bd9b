package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/semver"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/plugin"
)

// plugged is one agent program whose plugin a verb is about.
type plugged struct {
	kind   string
	plugin hooks.Plugin
	setup  hooks.PluginSetup
}

func pluginFlags() []cli.Flag {
	return []cli.Flag{
		agentFlag(hooks.Pluggable()),
		&cli.BoolFlag{Name: "local", Usage: "for this project alone, where its repository doesn't see it"},
	}
}

// pluggedAgents are the agent programs whose plugin the call is about.
func (c *call) pluggedAgents() ([]plugged, []skipped, error) {
	self, err := daemon.Self()
	if err != nil {
		return nil, nil, err
	}
	return chosen(c, hooks.Pluggable(), hooks.PluginOf, func(kind string, p hooks.Plugin, named bool) (a plugged, err error) {
		setup, err := c.pluginSetup(p, self)
		if err == nil && !named && !c.pluggable(p, setup.Folder) {
			err = absent(p.Program(), setup.Folder)
		}
		return plugged{kind, p, setup}, err
	})
}

// pluginSetup is what this st would put where the call says.
func (c *call) pluginSetup(p hooks.Plugin, self string) (hooks.PluginSetup, error) {
	folder, err := p.Folder(homeEnv)
	if err != nil || !c.Bool("local") {
		return pluginSetup(folder, self), err
	}
	local, err := localFolder(p, folder)
	setup := pluginSetup(local, self)
	setup.Local = true
	return setup, err
}

// pluggable tells whether an agent program is here: it can be started, or it, or somebody for it, has a folder.
func (c *call) pluggable(p hooks.Plugin, folder string) bool {
	own, err := p.Folder(homeEnv)
	return present(p.Program(), folder) || err == nil && present(p.Program(), own)
}

// pluginSetup is what this st would put into a folder.
func pluginSetup(folder, self string) hooks.PluginSetup {
	setup := hooks.PluginSetup{Folder: folder, Version: numbered(version)}
	for _, g := range plugin.Guides() {
		setup.Guides = append(setup.Guides, hooks.Guide{
			Name: g.Name, About: g.About, Hint: g.Hint, Text: func(asked string) string { return g.Text(asked, self) },
		})
	}
	return setup
}

// numbered is a version as agent programs want it: three numbers and what stands behind them.
func numbered(version string) string {
	plain := strings.TrimPrefix(version, "v")
	if semver.IsValid("v"+plain) && strings.Count(semver.Canonical("v"+plain), ".") == 2 {
		return plain
	}
	word := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '-'
	}, plain)
	return "0.0.0+" + strings.Trim(strings.ReplaceAll(word, "..", "."), ".-")
}

// localFolder is where the agent program keeps what is for this project. A project that is the home itself has no
// folder of its own.
func localFolder(p hooks.Plugin, own string) (string, error) {
	project, err := projectHere()
	if err != nil {
		return "", err
	}
	local := p.Local(project)
	if here, err := filepath.EvalSymlinks(local); err == nil {
		if there, err := filepath.EvalSymlinks(own); err == nil && here == there {
			return "", &orch.Error{
				Code: "no_project", Message: fmt.Sprintf("--local: %s is your own configuration, not that of a project", local),
				Hint: "go into the project, or leave --local out:", Next: []string{"st plugin install"},
			}
		}
	}
	return local, nil
}

// projectHere is the root of the repository that we stand in; without one, the folder.
func projectHere() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("--local: the folder you are in: %w", err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if isRepository(filepath.Join(dir, ".git")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return here, nil
		}
	}
}

// isRepository tells a repository from an empty folder of that name, as a sandbox leaves one. That of a worktree is a
// file.
func isRepository(git string) bool {
	info, err := os.Stat(git)
	if err != nil || !info.IsDir() {
		return err == nil
	}
	_, err = os.Stat(filepath.Join(git, "HEAD"))
	return err == nil
}

// pluginRefused says why the files of a plugin can't be read or changed, and what to type.
func pluginRefused(kind string, err error) error {
	var kept *hooks.KeptError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &kept):
		return settingsRefused(kind, err)
	}
	return &orch.Error{
		Code: "file_kept", Message: kind + ": " + kept.Error(),
		Hint: "nothing was changed; move yours away, then once more:",
		Next: []string{"mv " + shellWord(kept.Path) + " " + shellWord(kept.Path+".mine"), "st plugin install"},
	}
}

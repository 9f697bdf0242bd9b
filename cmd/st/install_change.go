package main

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"st/hooks"
)

// installs is what install and uninstall answer: A says what was done for one agent program.
type installs[A any] struct {
	DryRun  bool      `json:"dry_run"`
	Agents  []A       `json:"agents"`
	Skipped []skipped `json:"skipped"`
}

// FileChanges are what was changed, or would be, in the configuration of one agent program. The name is exported because the
// printer reaches what is embedded only then.
type FileChanges struct {
	Agent   string   `json:"agent"`
	Folder  string   `json:"folder"`
	Changed []string `json:"changed"` // files, also those that were removed
	Removed []string `json:"removed"` // those of them that are gone, or would be
	Diff    string   `json:"diff,omitempty"`
}

// changer plans what has to change in the configuration of an agent program, and makes it unless dry says so.
type changer[A any] = func(a A, dry bool) ([]hooks.Change, error)

// rehearse works out all changes before the first one is made: where one can't be, none is.
func rehearse[A any](agents []A, act changer[A]) error {
	for _, a := range agents {
		if _, err := act(a, true); err != nil {
			return err
		}
	}
	return nil
}

// take takes down what was done.
func (d *FileChanges) take(changes []hooks.Change, dry bool) {
	for _, change := range changes {
		d.Changed = append(d.Changed, change.Path)
		if change.New == nil {
			d.Removed = append(d.Removed, change.Path)
		}
		if dry {
			d.Diff += unified(change)
		}
	}
}

func (c *call) sayChanged(d FileChanges, dry bool) error {
	switch {
	case c.out.json:
		return nil
	case len(d.Changed) == 0:
		return c.out.say("%s: nothing to do", d.Agent)
	case dry:
		return c.out.say("%s: %s\n%s", d.Agent, d.did("would change ", "would remove "), block(strings.TrimSuffix(d.Diff, "\n")))
	}
	return c.out.say("%s: %s", d.Agent, d.did("changed ", "removed "))
}

// did lists the files that are still there, and those that are not.
func (d FileChanges) did(changed, removed string) string {
	var kept, parts []string
	for _, path := range d.Changed {
		if !slices.Contains(d.Removed, path) {
			kept = append(kept, path)
		}
	}
	if len(kept) > 0 {
		parts = append(parts, changed+strings.Join(kept, ", "))
	}
	if len(d.Removed) > 0 {
		parts = append(parts, removed+strings.Join(d.Removed, ", "))
	}
	return strings.Join(parts, "; ")
}

// sayLeft ends the answer of a verb whose lines are out.
func (c *call) sayLeft(answer any, left []skipped) error {
	if c.out.json {
		return c.out.data(answer)
	}
	for _, s := range left {
		if err := c.out.say("%s: skipped: %s", s.Agent, s.Why); err != nil {
			return err
		}
	}
	return nil
}

// unified is a change as a unified diff.
func unified(c hooks.Change) string {
	from, to := c.Path, c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	text := string(diff.Diff(from, c.Old, to, c.New))
	_, text, _ = strings.Cut(text, "\n") // the line with the command
	return text
}

package hooks

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// What a file of a plugin is.
const (
	PluginMissing  = "missing"
	PluginCurrent  = "current"  // as this st writes it
	PluginOutdated = "outdated" // as another st wrote it
	PluginEdited   = "edited"   // a person has changed what st wrote
	PluginForeign  = "foreign"  // st did not write it
	PluginStale    = "stale"    // an older st wrote it, this one has no use for it
	PluginRemoved  = "removed"  // a person took it away, and may: the plugin is whole without it
)

// PluginState is one file of a plugin as it stands.
type PluginState struct {
	Path  string `json:"path"` // absolute
	State string `json:"state"`
	// Needed: without it the plugin is not whole.
	Needed bool `json:"needed"`
}

// KeptError says that a file stands in the way which is not as st wrote it.
type KeptError struct {
	Path  string
	State string // PluginEdited or PluginForeign
}

func (e *KeptError) Error() string {
	if e.State == PluginEdited {
		return e.Path + ": you have changed what st wrote there, and st leaves it alone"
	}
	return e.Path + ": st did not write this file, and st leaves it alone"
}

// pluginEdit is a plugin's files as they stand and as they should be.
type pluginEdit struct {
	plugin  Plugin
	setup   PluginSetup
	receipt pluginReceipt
	path    string // of the receipt, absolute
	wanted  map[string]PluginFile
	order   []string          // of all files but the receipt, by their paths below the folder
	have    map[string][]byte // nil for no file
	yielded []string          // files of the person, absolute, for which one of ours is not wanted
}

func openPlugin(p Plugin, s PluginSetup) (*pluginEdit, error) {
	e := &pluginEdit{plugin: p, setup: s, wanted: map[string]PluginFile{}, have: map[string][]byte{}}
	e.path = e.absolute(p.Receipt())
	text, err := readOne(e.path)
	if err != nil {
		return nil, err
	}
	e.have[p.Receipt()] = text
	if e.receipt, err = readReceipt(e.path, text); err != nil {
		return nil, err
	}
	for _, f := range p.Layout(s) {
		e.order, e.wanted[f.Path] = append(e.order, f.Path), f
	}
	for _, path := range slices.Sorted(maps.Keys(e.receipt.Files)) {
		if !slices.Contains(e.order, path) {
			e.order = append(e.order, path)
		}
	}
	for _, path := range e.order {
		if e.have[path], err = readOne(e.absolute(path)); err != nil {
			return nil, err
		}
	}
	return e, e.leaveToOthers()
}

func (e *pluginEdit) absolute(path string) string {
	return filepath.Join(e.setup.Folder, filepath.FromSlash(path))
}

// leaveToOthers drops what is not wanted beside a file of the person.
func (e *pluginEdit) leaveToOthers() error {
	for path, f := range e.wanted {
		for _, other := range f.Unless {
			text, err := readOne(e.absolute(other))
			if err != nil {
				return err
			}
			if text != nil {
				delete(e.wanted, path)
				e.yielded = append(e.yielded, e.absolute(other))
			}
		}
	}
	e.order = slices.DeleteFunc(e.order, func(path string) bool {
		_, wanted := e.wanted[path]
		return !wanted && e.receipt.Files[path] == ""
	})
	return nil
}

// state tells what the file of a path is.
func (e *pluginEdit) state(path string) string {
	text, f, wrote := e.have[path], e.wanted[path], e.receipt.Files[path]
	switch {
	case text == nil && f.Optional && wrote != "":
		return PluginRemoved
	case text == nil:
		return PluginMissing
	case f.Path != "" && bytes.Equal(text, []byte(f.Text)):
		return PluginCurrent
	case wrote == "":
		return PluginForeign
	case pluginHash(text) != wrote:
		return PluginEdited
	case f.Path == "":
		return PluginStale
	}
	return PluginOutdated
}

// isOurs tells whether a file may be written over or taken away.
func isOurs(state string) bool {
	return state == PluginCurrent || state == PluginOutdated || state == PluginStale
}

// InstallPlugin writes what is missing or of an older st, and takes away what only an older one had. A file that is
// not as st wrote it is a *KeptError, or left alone where the plugin is whole without it. It returns what was changed, or with dry
// would be, in the order of writing.
func InstallPlugin(p Plugin, s PluginSetup, dry bool) ([]Change, error) {
	return carryOut(dry, func() ([]Change, error) {
		e, err := openPlugin(p, s)
		if err != nil {
			return nil, err
		}
		return e.install()
	})
}

func (e *pluginEdit) install() ([]Change, error) {
	now := pluginReceipt{Version: e.setup.Version, Files: map[string]string{}, Folders: e.receipt.Folders}
	var changes []Change
	for _, path := range e.order {
		state, f := e.state(path), e.wanted[path]
		switch {
		case state == PluginEdited || state == PluginForeign:
			if f.Path != "" && !f.Optional {
				return nil, &KeptError{e.absolute(path), state}
			}
			continue // a person's own now
		case state == PluginRemoved:
			now.Files[path] = e.receipt.Files[path]
			continue
		case f.Path == "" && state == PluginMissing:
			continue
		case f.Path == "":
			changes = append(changes, e.remove(path))
			continue
		case state != PluginCurrent:
			changes = append(changes, Change{Path: e.absolute(path), Old: e.have[path], New: []byte(f.Text)})
		}
		now.Files[path] = pluginHash([]byte(f.Text))
		made, err := missingFolders(e.setup.Folder, e.absolute(path))
		if err != nil {
			return nil, err
		}
		now.Folders = append(now.Folders, made...)
	}
	return e.withReceipt(changes, now)
}

// withReceipt adds the new receipt as the last change: it never names what is not written yet, and until it goes all
// that is written can be found.
func (e *pluginEdit) withReceipt(changes []Change, now pluginReceipt) ([]Change, error) {
	now.Folders = innermost(slices.Clone(now.Folders))
	text, err := now.text()
	if old := e.have[e.plugin.Receipt()]; err == nil && !bytes.Equal(old, text) {
		changes = append(changes, Change{Path: e.path, Old: old, New: text})
	}
	return changes, err
}

// remove is a file that goes, with the folders that were made for it.
func (e *pluginEdit) remove(path string) Change {
	c := Change{Path: e.absolute(path), Old: e.have[path]}
	for dir := filepath.Dir(path); strings.Contains(dir, pluginName); dir = filepath.Dir(dir) {
		c.Folders = append(c.Folders, e.absolute(dir)) // nobody else's, whatever the receipt says
	}
	for _, dir := range e.receipt.Folders {
		if rel, err := filepath.Rel(e.absolute(dir), c.Path); err == nil && filepath.IsLocal(rel) {
			c.Folders = append(c.Folders, e.absolute(dir))
		}
	}
	return c
}

// UninstallPlugin takes away all that st wrote. What a person has changed stays. It returns as InstallPlugin.
func UninstallPlugin(p Plugin, s PluginSetup, dry bool) ([]Change, error) {
	return carryOut(dry, func() ([]Change, error) {
		e, err := openPlugin(p, s)
		if err != nil {
			return nil, err
		}
		return e.uninstall(), nil
	})
}

func (e *pluginEdit) uninstall() []Change {
	var changes []Change
	for _, path := range e.order {
		if isOurs(e.state(path)) {
			changes = append(changes, e.remove(path))
		}
	}
	if e.have[e.plugin.Receipt()] != nil {
		changes = append(changes, e.remove(e.plugin.Receipt()))
	}
	return changes
}

// LookAtPlugin tells what is installed, and by which version of st; "" for none.
func LookAtPlugin(p Plugin, s PluginSetup) (files []PluginState, version string, err error) {
	e, err := openPlugin(p, s)
	if err != nil {
		return nil, "", err
	}
	for _, path := range e.order {
		f := e.wanted[path]
		files = append(files, PluginState{Path: e.absolute(path), State: e.state(path), Needed: f.Path != "" && !f.Optional})
	}
	for _, path := range e.yielded {
		files = append(files, PluginState{Path: path, State: PluginForeign})
	}
	return files, e.receipt.Version, nil
}

package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Change is one file that has to change; a nil text is no file.
type Change struct {
	Path     string
	Old, New []byte
	// Folders go with a file that goes, those of them in which nothing else is left; the innermost first.
	Folders []string
}

// errBusy says that a file was rewritten by somebody else each time it was read.
var errBusy = errors.New("it is being rewritten by another program all the time; nothing was changed: close that program and try again")

// applyTries is how often a change is worked out anew because a file changed meanwhile.
const applyTries = 8

// Apply works out what has to change in a person's settings, and writes it unless dry says so. Each file is
// replaced as a whole or not at all. Where somebody else rewrites one between our reading and our writing it
// begins anew. It returns what was changed, or with dry would be, in the order of writing. An *fs.PathError names the file that
// can't be read or written; what plan refuses is returned as it is.
func Apply(k Settings, s Setup, dry bool, plan func(Setup) (Texts, error)) ([]Change, error) {
	return carryOut(dry, func() ([]Change, error) { return planned(k, s, plan) })
}

// carryOut writes what is planned, and plans anew where a file is another one by then.
func carryOut(dry bool, plan func() ([]Change, error)) ([]Change, error) {
	var changes []Change
	for range applyTries {
		var err error
		changes, err = plan()
		if err != nil || dry || len(changes) == 0 {
			return changes, err
		}
		err = writeAll(changes)
		if !errors.Is(err, errChanged) {
			return changes, err
		}
	}
	return nil, fmt.Errorf("%s: %w", changes[0].Path, errBusy)
}

// planned reads the files and says what has to change in them.
func planned(k Settings, s Setup, plan func(Setup) (Texts, error)) ([]Change, error) {
	var err error
	if s.Have, err = readSettings(k, s.Folder); err != nil {
		return nil, err
	}
	texts, err := plan(s)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, path := range k.Files(s.Folder) {
		if text, ok := texts[path]; ok {
			changes = append(changes, Change{Path: path, Old: s.Have[path], New: text, Folders: emptied(k, s.Folder, text)})
		}
	}
	return changes, nil
}

// emptied are the folders that go with a file that goes.
func emptied(k Settings, folder string, text []byte) []string {
	if made, ok := k.(interface{ Emptied(folder string) []string }); ok && text == nil {
		return made.Emptied(folder)
	}
	return nil
}

// readSettings reads all files of a kind's settings.
func readSettings(k Settings, folder string) (Texts, error) {
	have := Texts{}
	for _, path := range k.Files(folder) {
		text, err := readOne(path)
		if err != nil {
			return nil, err
		}
		have[path] = text
	}
	return have, nil
}

// readOne is a file's text, nil for no file. To open a pipe that nobody writes to would wait for ever.
func readOne(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is no plain file", path)
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case text == nil:
		return []byte{}, nil
	}
	return text, nil
}

// writeAll writes all of the changes or none: everything that can fail is tried before the first file is
// replaced, and what was replaced is put back if a later one fails all the same.
func writeAll(changes []Change) (err error) {
	var staged []*stagedFile
	defer func() {
		for _, f := range slices.Backward(staged) {
			err = errors.Join(err, f.discard())
		}
	}()
	for _, c := range changes {
		f, err := stage(c)
		if err != nil {
			return err
		}
		staged = append(staged, f)
	}
	for i, f := range staged {
		if err := f.commit(); err != nil {
			return errors.Join(err, putBack(changes[:i]))
		}
	}
	return nil
}

// putBack undoes changes that were written.
func putBack(changes []Change) error {
	for _, c := range slices.Backward(changes) {
		f, err := stage(Change{Path: c.Path, Old: c.New, New: c.Old})
		if err == nil {
			err = errors.Join(f.commit(), f.discard())
		}
		if err != nil {
			return fmt.Errorf("%s was changed and could not be put back: %w", c.Path, err)
		}
	}
	return nil
}

// unchanged tells whether a file still holds what was read.
func (c Change) unchanged() (bool, error) {
	text, err := readOne(c.Path)
	return (text == nil) == (c.Old == nil) && bytes.Equal(text, c.Old), err
}

// target is the file behind all links of a path, also where the last link leads to nothing yet.
func target(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || isNoLink(path) {
				return path, nil
			}
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many links", path)
}

func isNoLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink == 0
}

// Heard tells that all hooks of this st stand in the settings that a kind's program would read in an environment.
func Heard(kind, self string, env func(string) string) bool {
	k, err := SettingsOf(kind)
	if err != nil {
		return false
	}
	folder, err := k.Folder(env)
	if err != nil {
		return false
	}
	in, err := LookAt(k, Setup{Folder: folder, Self: self})
	return err == nil && !slices.ContainsFunc(in.Events, func(e InstalledEvent) bool { return !e.Current })
}

// LookAt reads what is installed in a person's settings. It fails where a file can't be read, or is not what its program reads.
func LookAt(k Settings, s Setup) (Installed, error) {
	var err error
	if s.Have, err = readSettings(k, s.Folder); err != nil {
		return Installed{}, err
	}
	in, err := k.Installed(s)
	if err != nil {
		return in, err
	}
	slices.Sort(in.programs)
	for _, program := range slices.Compact(in.programs) {
		if _, err := exec.LookPath(program); err != nil {
			in.Missing = append(in.Missing, program)
		}
	}
	return in, nil
}

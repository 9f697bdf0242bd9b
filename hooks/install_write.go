package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errChanged says that a file holds something else than what was read.
var errChanged = errors.New("changed by another program meanwhile")

// stagedFile is a change that is ready: the new text lies beside the file, on disk.
type stagedFile struct {
	change Change
	path   string   // the file itself, behind all links
	temp   string   // "" where the file goes
	dirs   []string // that were made for it, the outermost first
}

// stage writes the new text beside its file and checks whatever could fail later.
func stage(c Change) (f *stagedFile, err error) {
	f = &stagedFile{change: c}
	if f.path, err = target(c.Path); err != nil {
		return nil, err
	}
	if err := f.makeDirs(filepath.Dir(f.path)); err != nil {
		return nil, errors.Join(err, f.discard())
	}
	if err := f.write(); err != nil {
		return nil, errors.Join(err, f.discard())
	}
	return f, nil
}

// makeDirs makes the folders that are missing, for their owner alone.
func (f *stagedFile) makeDirs(dir string) error {
	_, err := os.Stat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.makeDirs(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	f.dirs = append(f.dirs, dir)
	return nil
}

// write makes the temporary file. A file that may not be written is not replaced either, though its folder would
// let us.
func (f *stagedFile) write() error {
	mode := fs.FileMode(0o600)
	info, err := os.Stat(f.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s: is no plain file", f.path)
	case err == nil:
		mode = info.Mode().Perm()
		old, err := os.OpenFile(f.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := old.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir := filepath.Dir(f.path)
	temp, err := os.CreateTemp(dir, ".st-*")
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: "write into", Path: dir, Err: at.Err} // the name of the new file tells nobody anything
	}
	if err != nil {
		return err
	}
	f.temp = temp.Name()
	_, err = temp.Write(f.change.New)
	return errors.Join(err, temp.Chmod(mode), likeOwner(temp, info), temp.Sync(), temp.Close())
}

// commit puts the new text in the file's place, if the file still holds the old one.
func (f *stagedFile) commit() error {
	same, err := f.change.unchanged()
	switch {
	case err != nil:
		return err
	case !same:
		return errChanged
	case f.change.New == nil:
		err = errors.Join(os.Remove(f.path), f.dropTemp())
	default:
		err = os.Rename(f.temp, f.path)
		f.temp = ""
	}
	if err != nil {
		return err
	}
	f.dirs = nil
	if err := syncDir(filepath.Dir(f.path)); err != nil || f.change.New != nil {
		return err
	}
	return removeEmpty(f.change.Folders)
}

// removeEmpty takes folders away in which nothing is left. What stands there under such a name and is no folder was
// put there by somebody else.
func removeEmpty(folders []string) error {
	for _, dir := range folders {
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) == 0 {
			err = os.Remove(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *stagedFile) dropTemp() error {
	temp := f.temp
	f.temp = ""
	if temp == "" {
		return nil
	}
	return os.Remove(temp)
}

// discard takes away what was made and isn't needed.
func (f *stagedFile) discard() error {
	err := f.dropTemp()
	for i := len(f.dirs) - 1; i >= 0; i-- {
		err = errors.Join(err, os.Remove(f.dirs[i]))
	}
	f.dirs = nil
	return err
}

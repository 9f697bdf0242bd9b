package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/plugin"
)

// writingTries is how often a file is tried again, once a second: a full disk may have room again by then.
const writingTries = 10

// fileWrite writes the file that a word names. To write it twice does no harm.
func (d *doer) fileWrite(ctx context.Context, o orch.FileWrite) orch.What {
	for try := 1; ; try++ {
		failpoint.At("file.write.before")
		err := d.writeNote(o)
		failpoint.At("file.write.after")
		switch {
		case err == nil:
			return orch.FileWritten{Word: o.Word, Message: o.Note.Message}
		case try == writingTries || ctx.Err() != nil:
			return orch.FileWritten{Word: o.Word, Message: o.Note.Message, Error: cause(err).Error()}
		}
		d.log.Printf("message %s: its file: %v", o.Note.Message, err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (d *doer) writeNote(o orch.FileWrite) error {
	if err := d.prepareFolder(filepath.Dir(o.Path)); err != nil {
		return err
	}
	if err := failpoint.Fail("file.write.full"); err != nil {
		return err
	}
	text := plugin.Message(plugin.Letter(o.Note))
	if t := o.Task; t != nil {
		text = plugin.Copy(plugin.Job{Worker: t.Worker, Run: t.Run, Task: t.Task, Dispatch: t.Dispatch, Command: t.Command, Scope: t.Scope, Branch: t.Branch, Standing: plugin.Standing(t.Status)}, t.Spec)
	}
	return hooks.WriteOwn(o.Path, []byte(text))
}

// prepareFolder makes the folder of a file for an agent. One in the agent's own folder must be no link that leads elsewhere, and
// git is told to pass over it.
func (d *doer) prepareFolder(dir string) error {
	at, _, inside := strings.Cut(dir, "/"+ownDir+"/"+d.mark+"/")
	if !inside {
		return prepareCopyDir(dir)
	}
	own := filepath.Join(at, ownDir)
	for _, part := range []string{own, filepath.Join(own, d.mark), dir} {
		if err := os.Mkdir(part, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := os.Lstat(part); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no folder", part)
		}
	}
	ignore := filepath.Join(own, ".gitignore")
	if _, err := os.Lstat(ignore); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return hooks.WriteOwn(ignore, []byte(ignoreAll))
}

// filesMove takes the files of a worker out of its agent's own folder. To begin anew after a crash does no harm.
func (d *doer) filesMove(o orch.FilesMove) orch.What {
	moved := orch.FilesMoved{Worker: o.Worker}
	dir, base := filepath.Split(o.From)
	dir = filepath.Clean(dir)
	at, _, inside := strings.Cut(dir, "/"+ownDir+"/"+d.mark+"/")
	if !inside {
		return moved
	}
	to := filepath.Join(copyDir(d.home), filepath.Base(dir))
	own := filepath.Join(at, ownDir)
	if err := errors.Join(d.moveFiles(own, dir, base, to), clearFolder(own, filepath.Join(own, d.mark), dir)); err != nil {
		d.log.Printf("files of worker %s: %v", o.Worker, err)
		return moved
	}
	moved.To = filepath.Join(to, base)
	return moved
}

// moveFiles moves those of a worker, by names of ours alone.
func (d *doer) moveFiles(own, dir, base, to string) error {
	for _, part := range []string{own, filepath.Join(own, d.mark), dir} {
		info, err := os.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no folder", part)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := prepareCopyDir(to); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), base+"-") || filepath.Ext(e.Name()) != ".md" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		raw, err := os.ReadFile(path)
		if err == nil {
			err = hooks.WriteOwn(filepath.Join(to, e.Name()), raw)
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clearFolder removes our folders in an agent's own, the innermost last in the list, where nothing is in them any more but what
// tells git to pass over them.
func clearFolder(own, mark, dir string) error {
	for _, part := range []string{dir, mark} {
		if left, err := os.ReadDir(part); err != nil || len(left) > 0 {
			return unlessGone(err) // another worker's, or somebody else's
		}
		if err := os.Remove(part); err != nil {
			return unlessGone(err)
		}
	}
	ignore := filepath.Join(own, ".gitignore")
	left, err := os.ReadDir(own)
	raw, rerr := os.ReadFile(ignore)
	if err != nil || len(left) != 1 || rerr != nil || string(raw) != ignoreAll {
		return unlessGone(err)
	}
	return errors.Join(os.Remove(ignore), os.Remove(own))
}

// unlessGone passes over that something is not there.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ignoreAll tells git to pass over a folder.
const ignoreAll = "*\n"

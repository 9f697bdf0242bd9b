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
	return hooks.WriteOwn(ignore, []byte("*\n"))
}

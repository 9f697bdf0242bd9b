package daemon

import (
	"context"
	"path/filepath"
	"time"

	"st/orch"
	"st/plugin"
)

// writingTries is how often a file is tried again, once a second: a full disk may have room again by then.
const writingTries = 10

// fileWrite writes the file that a word names. To write it twice does no harm.
func (d *doer) fileWrite(ctx context.Context, o orch.FileWrite) orch.What {
	for try := 1; ; try++ {
		err := writeNote(o)
		switch {
		case err == nil:
			return orch.FileWritten{Word: o.Word}
		case try == writingTries || ctx.Err() != nil:
			return orch.FileWritten{Word: o.Word, Error: cause(err).Error()}
		}
		d.log.Printf("word %s: its file: %v", o.Word, err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func writeNote(o orch.FileWrite) error {
	if err := prepareCopyDir(filepath.Dir(o.Path)); err != nil {
		return err
	}
	return writeWhole(o.Path, []byte(plugin.Message(plugin.Letter(o.Note))))
}

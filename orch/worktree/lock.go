package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"
)

// lockTime is how long another git may hold a lock that we want. One that ended badly holds it for ever.
const (
	lockTime = 10 * time.Second
	lockTick = 20 * time.Millisecond
)

// Locked says that another git, which may have ended badly, holds a file that has to be ours.
type Locked struct{ Path string }

func (l *Locked) Error() string {
	return fmt.Sprintf("another git holds %s; if none runs there, it was left behind", l.Path)
}

var lockHeld = regexp.MustCompile(`(?:Unable to create|could not lock \S+ file|Unable to lock) '?([^':\n]+\.lock)'?: File exists`)

// again runs a call, and once more whenever a lock of another git was in its way and is gone.
func again(ctx context.Context, c call) error {
	for until := time.Now().Add(lockTime); ; {
		_, err := c.do(ctx)
		path := lockIn(err)
		if path == "" {
			return err
		}
		if !freed(ctx, path, until) {
			return &Locked{Path: path}
		}
	}
}

// lockIn is the lock of which a failure speaks, "" for none.
func lockIn(err error) string {
	var f *Failure
	if !errors.As(err, &f) {
		return ""
	}
	if m := lockHeld.FindStringSubmatch(f.Said); m != nil {
		return m[1]
	}
	return ""
}

// settled waits until no git holds the index of a working tree: while one moves its files they are neither as they were
// nor as they will be.
func settled(ctx context.Context, dir string) error {
	index, err := asks(dir, "rev-parse", "--path-format=absolute", "--git-path", "index.lock").line(ctx)
	if err == nil && !freed(ctx, index, time.Now().Add(lockTime)) {
		err = &Locked{Path: index}
	}
	return err
}

// freed waits until a lock is gone.
func freed(ctx context.Context, path string, until time.Time) bool {
	tick := time.NewTicker(lockTick)
	defer tick.Stop()
	for time.Now().Before(until) {
		if _, err := os.Lstat(path); err != nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return false
}

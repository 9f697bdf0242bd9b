package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file answers, for a person who asks what is wrong, how a home stands. It makes, mends and starts nothing.

// CheckHome says why a daemon would refuse a home: another user's, open to others, not writable; as *orch.Error
// with the codes of Prepare. What is not there yet is no fault.
func CheckHome(home string) error {
	for _, dir := range homeDirs(home) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := checkDir(dir); err != nil {
			return err
		}
		if err := writable(dir); err != nil {
			return homeFault(dir, err)
		}
	}
	return checkSocketDir(home)
}

// Private says what is wrong with a file of ours: it is another user's, others may read or write it, or we may not.
// fs.ErrNotExist where there is none.
func Private(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := private(info); err != nil {
		return err
	}
	return writable(path)
}

// Waiting counts the files in the spool of home, in and outside of it. A spool that is not there yet is empty.
func Waiting(home string) (int, error) {
	s := Spooled{Home: home}
	n, err := s.Len()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// Aside counts the spool files that were put aside because nobody could read them, and names the folders where they
// lie, none where there are none.
func Aside(home string) (n int, dirs []string, err error) {
	for _, spool := range []string{SpoolDir(home), sandboxDir(home)} {
		dir := filepath.Join(spool, asideDir)
		bad, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, nil, err
		}
		if len(bad) > 0 {
			n, dirs = n+len(bad), append(dirs, dir)
		}
	}
	return n, dirs, nil
}

// LaunchDir holds what starts of agents have left for them to read.
func LaunchDir(home string) string { return filepath.Join(runDir(home), "launch") }

// Leftovers are files of launches that nobody will read any more, by path: folders of agents that are not among
// live (ids), and environments, which may hold secrets, of starts that never came about.
func Leftovers(home string, live []string) (folders, secrets []string, err error) {
	entries, err := os.ReadDir(LaunchDir(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(LaunchDir(home), e.Name())
		switch info, err := e.Info(); {
		case err != nil: // gone meanwhile
		case e.IsDir() && !slices.Contains(live, e.Name()):
			folders = append(folders, path)
		case strings.HasSuffix(e.Name(), ".json") && time.Since(info.ModTime()) > orphanAge:
			secrets = append(secrets, path)
		}
	}
	return folders, secrets, err
}

// LockHeld tells whether a process has the lock of home, and which one wrote itself into it; 0 where that can't be
// read. The lock is tried for a moment, as others that look may too, and given back: a daemon that begins just
// then waits for it.
func LockHeld(home string) (held bool, pid int, err error) {
	f, err := os.Open(lockPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, homeFault(lockPath(home), err)
	}
	defer f.Close()
	err = flockShared(f)
	if errors.Is(err, errBusy) {
		return true, lockHolder(home), nil
	}
	return false, 0, err
}

// Sandboxed tells that this process may not connect to a socket at all, wherever it lies.
func Sandboxed(ctx context.Context) bool {
	nowhere := &Client{home: filepath.Join(os.TempDir(), fmt.Sprintf("st-nowhere-%d", os.Getpid()))}
	err := nowhere.call(ctx, Request{Op: opGet, Name: viewHello}, nil)
	return errors.Is(err, fs.ErrPermission)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/orch"
	"st/orch/daemon"
	"st/orch/journal"
)

// homeChecks are about the folder in which everything of ours lives, and whoever serves it.
func (d *doctor) homeChecks() []check {
	return []check{
		{"home", d.home, d.checkHome},
		{"config", d.path("config.toml"), d.checkConfig},
		{"store", d.path(journal.File), d.checkStore},
		{"daemon", "", d.checkDaemon},
		{"login", "", d.checkLogin},
		{"spool", daemon.SpoolDir(d.home), d.checkSpool},
		{"launches", daemon.LaunchDir(d.home), d.checkLaunches},
	}
}

func (d *doctor) path(name string) string { return filepath.Join(d.home, name) }

func (d *doctor) checkHome(context.Context) finding {
	if err := daemon.CheckHome(d.home); err != nil {
		return refusal(err)
	}
	if _, err := os.Stat(d.home); errors.Is(err, fs.ErrNotExist) {
		return fine("not there yet; the first verb makes it")
	}
	socket := daemon.SocketPath(d.home)
	if !strings.HasPrefix(socket, d.home) {
		return fine("ours alone; its path is too long for a socket, which lies at %s", socket)
	}
	return fine("ours alone, writable")
}

// refusal is what a room says against something.
func refusal(err error) finding {
	var e *orch.Error
	if errors.As(err, &e) {
		return fault(e.Next, "%s", e.Message)
	}
	return fault(nil, "%v", err)
}

func (d *doctor) checkConfig(context.Context) finding {
	path := d.path("config.toml")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("there is none, and none is needed")
	}
	if _, err := daemon.PassEnv(d.home); err != nil {
		f := refusal(err)
		f.Next = []string{"${EDITOR:-vi} " + shellWord(path)}
		return f
	}
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		return warning([]string{"chmod 600 " + shellWord(path)}, "others may write it (mode %04o), and it says what agents may", info.Mode().Perm())
	}
	return fine("valid")
}

// checkStore looks at the store from outside: whoever opens it takes its lock. While a daemon has it open that
// tells how it is; else the file itself does.
func (d *doctor) checkStore(context.Context) finding {
	path := d.path(journal.File)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("not there yet")
	}
	if err := daemon.Private(path); err != nil {
		return fault([]string{"chmod 600 " + shellWord(path)}, "%v", err)
	}
	if err != nil {
		return fault(nil, "%v", err)
	}
	seen := d.seen()
	if seen.err == nil && seen.status.Store != "ok" {
		return warning([]string{"ls -l " + shellWord(d.home)}, "%s", seen.status.Store)
	}
	if errors.Is(seen.err, daemon.ErrNone) && !seen.held {
		if err := journal.Sound(d.home); err != nil {
			return fault([]string{"st up"}, "%v; the next daemon takes the verified copy: %s", err, d.copyAge(info))
		}
	}
	return fine("%s, %s", size(info.Size()), d.copyAge(info))
}

// copyAge says how old the verified copy is.
func (d *doctor) copyAge(store fs.FileInfo) string {
	copied, err := os.Stat(journal.CopyPath(d.home))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no copy yet"
	case err != nil:
		return "its copy: " + reason(err)
	case !store.ModTime().After(copied.ModTime()):
		return "its copy is up to date"
	}
	return fmt.Sprintf("its copy is %s behind", store.ModTime().Sub(copied.ModTime()).Round(time.Second))
}

func (d *doctor) checkSpool(context.Context) finding {
	waiting, err := daemon.Waiting(d.home)
	if err != nil {
		return refusal(err)
	}
	aside, dirs, err := daemon.Aside(d.home)
	switch {
	case err != nil:
		return refusal(err)
	case aside > 0:
		return warning([]string{"ls -l " + typed(dirs)}, "put aside because it could not be read: %s", some(aside, "report"))
	case waiting > 0 && d.seen().err == nil:
		return warning([]string{"tail " + shellWord(daemon.LogPath(d.home))}, "%d wait, though a daemon runs", waiting)
	case waiting > 0:
		return warning([]string{"st up"}, "%d wait for a daemon", waiting)
	}
	return fine("nothing waits")
}

// checkLaunches looks for files of starts that nobody reads any more.
func (d *doctor) checkLaunches(context.Context) finding {
	seen := d.seen()
	folders, secrets, err := daemon.Leftovers(d.home, seen.live)
	switch {
	case err != nil:
		return refusal(err)
	case len(secrets) > 0:
		return warning([]string{"rm " + shellWord(secrets[0])}, "%s of starts that never came about, which may hold secrets", some(len(secrets), "environment"))
	case seen.err != nil && len(folders) > 0:
		return fine("%s; the next daemon removes what belongs to agents that are gone", some(len(folders), "folder"))
	case len(folders) > 0:
		return fine("%s of agents that are gone; the next daemon removes them", some(len(folders), "folder"))
	}
	return fine("nothing is left over")
}

// some is a number of things: "1 folder", "2 folders".
func some(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// checkClock: a clock that was set back shows in files that were written in the future.
func (d *doctor) checkClock(context.Context) finding {
	info, err := os.Stat(d.path(journal.File))
	if err != nil {
		return fine("%s", time.Now().UTC().Format(time.RFC3339))
	}
	if ahead := time.Until(info.ModTime()); ahead > time.Minute {
		return warning([]string{"date -u"}, "the store was last written %s from now: the clock was set back", ahead.Round(time.Second))
	}
	return fine("%s", time.Now().UTC().Format(time.RFC3339))
}

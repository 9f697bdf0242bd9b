package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"st/orch"
)

// orphanAge is how old an environment file must be before it counts as left by a verb that never gave its
// order. The order follows the file within milliseconds.
var orphanAge = 10 * time.Minute

// sweep removes files of launches that nobody will read any more: those of agents that are gone, and
// environments whose order never came. It runs before effects do.
func (d *daemon) sweep() {
	dir := LaunchDir(d.home)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.log.Printf("launch files: %v", err)
		}
		return
	}
	wanted := map[string]bool{}
	for _, e := range d.journal.Owed() {
		if o, ok := e.Do.(orch.PaneOpen); ok {
			wanted[o.EnvFile] = true
		}
	}
	for _, path := range d.queuedEnvs() {
		wanted[path] = true
	}
	d.loop.Read(func(v orch.View) {
		for _, a := range append(orch.Live(v), orch.Resumables(v)...) {
			wanted[scratch(d.home, a.ID)] = true
		}
	})
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if wanted[path] || !e.IsDir() && !orphan(e) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			d.log.Printf("launch files: %v", err)
		}
	}
}

func orphan(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && strings.HasSuffix(e.Name(), ".json") && time.Since(info.ModTime()) > orphanAge
}

// watchSecrets removes, while the daemon runs, environments that were left by a verb that was killed before it
// gave its order, or by a window that ended before it read its own. It sleeps until a start makes files.
func (d *daemon) watchSecrets(ctx context.Context) {
	if err := d.keepSecretsShort(ctx); err != nil {
		d.log.Printf("launch files: they are not watched: %v", err)
	}
}

func (d *daemon) keepSecretsShort(ctx context.Context) error {
	dir := LaunchDir(d.home)
	if err := prepareDir(dir); err != nil {
		return err
	}
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer files.Close()
	if err := files.Add(dir); err != nil {
		return err
	}
	due, armed := time.NewTimer(orphanAge), true // for those that a killed daemon left
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due.C:
			armed = d.sweepSecrets(dir)
		case err := <-files.Errors:
			d.log.Printf("launch files: %v", err)
		case ev := <-files.Events:
			if armed || !ev.Has(fsnotify.Create) {
				continue
			}
			armed = true
		}
		if armed {
			due.Reset(orphanAge)
		}
	}
}

// sweepSecrets removes what is older than orphanAge, and tells whether anything is left. While a start is under
// way, on a full disk that may be long, all of it may still be read.
func (d *daemon) sweepSecrets(dir string) (left bool) {
	paths, err := filepath.Glob(filepath.Join(globWord(dir), "*.json"))
	specs, err2 := filepath.Glob(filepath.Join(globWord(dir), "*", "pane.json"))
	setups, err3 := filepath.Glob(filepath.Join(globWord(dir), "*", setupEnv))
	if err = errors.Join(err, err2, err3); err != nil {
		d.log.Printf("launch files: %v", err)
		return false
	}
	opening, queued := d.opening(), d.queuedEnvs()
	for _, path := range slices.Concat(paths, specs, setups) {
		info, err := os.Lstat(path)
		if err == nil && !opening && !slices.Contains(queued, path) && time.Since(info.ModTime()) > orphanAge {
			err = os.Remove(path)
		} else {
			left = left || err == nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.log.Printf("launch files: %v", err)
		}
	}
	return left
}

// queuedEnvs are the environments of starts that wait in line, which may be long.
func (d *daemon) queuedEnvs() (paths []string) {
	d.loop.Read(func(v orch.View) { paths = orch.QueuedEnvFiles(v) })
	return paths
}

// opening tells whether a window is still to be opened.
func (d *daemon) opening() (yes bool) {
	d.loop.Read(func(v orch.View) {
		for _, a := range orch.Live(v) {
			yes = yes || a.Ours && a.Place.Pane == ""
		}
	})
	return yes
}

// globWord is a path in which nothing is a pattern.
func globWord(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

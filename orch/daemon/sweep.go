package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/orch"
)

// orphanAge is how old an environment file must be before it counts as left by a verb that never gave its
// order. The order follows the file within milliseconds.
const orphanAge = 10 * time.Minute

// sweep removes files of launches that nobody will read any more: those of agents that are gone, and
// environments whose order never came. It runs before effects do.
func (d *daemon) sweep() {
	dir := filepath.Join(runDir(d.home), "launch")
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
	d.loop.Read(func(v orch.View) {
		for _, a := range orch.Live(v) {
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

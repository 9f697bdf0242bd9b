package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Inside returns the processes whose current folder is a folder or below it, so far as they can be looked at: those of
// other users can't.
func Inside(dir string) ([]Info, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	all, err := table()
	if err != nil {
		return nil, err
	}
	var inside []Info
	for _, p := range all {
		at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
		if err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			p.Exe, p.Argv = command(p.PID)
			inside = append(inside, p)
		}
	}
	return inside, nil
}

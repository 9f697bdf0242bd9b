package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// Inside returns the processes whose current folder is a folder or below it, so far as they can be looked at: those of
// other users can't. ErrUnsupported where the system does not tell.
func Inside(dir string) ([]Info, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if _, err := folder(os.Getpid()); err != nil { // else nobody would seem to be anywhere
		return nil, err
	}
	all, err := table()
	if err != nil {
		return nil, err
	}
	var inside []Info
	for _, p := range all {
		at, err := folder(p.PID)
		if err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			p.Exe, p.Argv = command(p.PID)
			inside = append(inside, p)
		}
	}
	return inside, nil
}

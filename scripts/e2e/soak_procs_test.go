//go:build linux || darwin

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"st/orch/proc"
)

// below lists the descendants of a process. Where the system keeps a list of children it is asked: to go over the
// whole table many times a second would be the heaviest thing in this test.
func below(pid int) ([]proc.Info, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		return proc.Tree(pid)
	}
	var tree []proc.Info
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				return nil, err
			}
			p, err := proc.Look(child)
			if errors.Is(err, proc.ErrGone) {
				continue
			}
			if err != nil {
				return nil, err
			}
			under, err := below(child)
			if err != nil {
				return nil, err
			}
			tree = append(append(tree, p), under...)
		}
	}
	return tree, nil
}

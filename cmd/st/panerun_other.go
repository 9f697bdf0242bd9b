//go:build !linux && !darwin

package main

import (
	"fmt"
	"os"
)

// runPane refuses: an agent can't be run in a pane on this system yet.
func runPane([]string) int {
	fmt.Fprintln(os.Stderr, "st: pane-run: not on this system yet")
	return 1
}

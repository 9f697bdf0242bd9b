//go:build !unix

package demo

import (
	"context"
	"fmt"
	"os"
)

// Main refuses: the agent needs a terminal's raw mode, signals and process groups.
func Main(_ context.Context, _ []string, _, stdout *os.File, _ []string) int {
	fmt.Fprintln(stdout, "st "+Verb+": the built-in agent runs on Linux and macOS only")
	return 1
}

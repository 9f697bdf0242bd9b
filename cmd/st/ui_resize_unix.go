//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes tells each time when the terminal gets another size.
func resizes() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

//go:build linux || darwin

package e2e

import (
	"os"
	"time"
)

// long says that the long counts are wanted.
func long() bool { return os.Getenv("ST_LONG") == "1" }

// hold waits: a person does, between one thing and the next.
func hold(d time.Duration) { time.Sleep(d) }

package proc

import "os"

// Self returns this process.
func Self() (Process, error) { return Of(os.Getpid()) }

//go:build !linux

// Command benchmarks measures st beside its peers' ways of doing the same. It reads /proc and so needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: it counts what /proc tells of processes and so needs Linux")
	os.Exit(1)
}

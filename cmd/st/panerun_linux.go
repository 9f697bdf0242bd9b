package main

import "golang.org/x/sys/unix"

// flushInput drops what was typed and not read.
func flushInput(tty int) error { return unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH) }

package main

import "golang.org/x/sys/unix"

// flushInput drops what was typed and not read. 1 is FREAD of sys/fcntl.h.
func flushInput(tty int) error { return unix.IoctlSetPointerInt(tty, unix.TIOCFLUSH, 1) }

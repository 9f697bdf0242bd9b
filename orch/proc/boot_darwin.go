package proc

import "golang.org/x/sys/unix"

// Boot identifies this boot of the computer: process ids of another mean nothing.
func Boot() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

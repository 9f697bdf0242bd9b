//go:build !unix

package main

import "os"

// awaitUnread waits for ever: here only the next write tells that nobody reads.
func awaitUnread(*os.File) { select {} }

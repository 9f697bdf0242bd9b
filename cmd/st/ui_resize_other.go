//go:build !unix

package main

import "os"

// resizes: nothing tells of another size here.
func resizes() (<-chan os.Signal, func()) { return nil, func() {} }

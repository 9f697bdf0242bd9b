//go:build !unix

package hooks

import "os"

// ownFile: a home of another user can't be read here in the first place.
func ownFile(os.FileInfo) bool { return true }

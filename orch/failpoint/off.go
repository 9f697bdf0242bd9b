//go:build !faults || !unix

package failpoint

import "time"

// At is a moment at which a test may end or hold up this process.
func At(string) {}

// Fail is a point at which a test may also let fail what follows; nil where it goes on.
func Fail(string) error { return nil }

// Number is n, unless a test wants another number under this name.
func Number(_ string, n int) int { return n }

// Now is the time of day, which a test may set.
func Now() time.Time { return time.Now() }

// Boot is the boot of the computer, unless a test says that it is another.
func Boot(boot string) string { return boot }

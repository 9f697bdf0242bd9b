//go:build !linux

package daemon

import "runtime"

// residentBytes is what the runtime has taken from the system, which is about what this process holds.
func residentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

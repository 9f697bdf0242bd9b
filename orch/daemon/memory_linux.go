package daemon

import (
	"bytes"
	"os"
	"strconv"
)

// residentBytes is how much memory this process holds; 0 where that can't be told.
func residentBytes() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw) // size resident shared ..., in pages
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mounted lists the folders below one in which something is mounted, relative to it. A folder of the same file system may be
// mounted too, which its device does not tell.
func mounted(dir string) (names []string, err error) {
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	top := real(dir)
	for _, row := range strings.Split(string(raw), "\n") {
		fields := strings.Fields(row)
		if len(fields) < 5 {
			continue
		}
		rel, err := filepath.Rel(top, unescaped(fields[4]))
		if err == nil && rel != "." && filepath.IsLocal(rel) && !slices.Contains(names, rel) {
			names = append(names, rel)
		}
	}
	return names, nil
}

// unescaped reads a path in which blanks and the like are written as a backslash and three octal digits.
func unescaped(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

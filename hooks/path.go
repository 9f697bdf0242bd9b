package hooks

import (
	"os"
	"path/filepath"
)

// linksMost is how many links in one another are followed, as the system does.
const linksMost = 40

// realPath resolves the links of a path as far as it is there, a link to nothing too: who writes there makes that. Each
// name is as its folder has it.
func realPath(path string) string { return follow(filepath.Clean(path), linksMost) }

func follow(path string, most int) string {
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	dir := follow(up, most)
	path = filepath.Join(dir, spelled(dir, filepath.Base(path)))
	to, err := os.Readlink(path)
	if err != nil || most == 0 {
		return path
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return follow(to, most-1)
}

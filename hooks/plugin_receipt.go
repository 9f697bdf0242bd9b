package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pluginReceipt is what st keeps beside the files of a plugin: by it an edit of a person is known from what an older
// st wrote, and a folder that was made for them from one that was there. All paths are below the plugin's folder, with
// slashes; a folder above it that was made too is "..", "../..".
type pluginReceipt struct {
	Version string            `json:"version"`
	Files   map[string]string `json:"files"`   // "sha256:…" of what was written
	Folders []string          `json:"folders"` // the innermost first
}

// readReceipt is the receipt of a folder; an empty one where there is none.
func readReceipt(path string, text []byte) (pluginReceipt, error) {
	r := pluginReceipt{Files: map[string]string{}}
	if text == nil {
		return r, nil
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: st can't read what it has written here: %w; without this file it takes all that differs for yours: rm %s", path, err, ShellWord(path))
	}
	if r.Files == nil {
		r.Files = map[string]string{}
	}
	for _, p := range append(slices.Collect(maps.Keys(r.Files)), r.Folders...) {
		_, file := r.Files[p]
		if strings.Contains(p, `\`) || !filepath.IsLocal(p) && (file || strings.Trim(p, "./") != "" || filepath.IsAbs(p)) {
			return r, fmt.Errorf("%s: %q is no path that st writes; nothing was changed: rm %s", path, p, ShellWord(path))
		}
	}
	return r, nil
}

func (r pluginReceipt) text() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

func pluginHash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// missingFolders are those that have to be made for a file, by their paths from the plugin's folder, the innermost
// first.
func missingFolders(folder, file string) ([]string, error) {
	var missing []string
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		switch {
		case err == nil || dir == filepath.Dir(dir):
			return missing, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		rel, err := filepath.Rel(folder, dir)
		if err != nil {
			return nil, err
		}
		missing = append(missing, filepath.ToSlash(rel))
	}
}

// innermost sorts folders so that each stands before those that hold it.
func innermost(folders []string) []string {
	depth := func(p string) int {
		n := 0
		for _, word := range strings.Split(p, "/") {
			switch word {
			case "..":
				n--
			case ".":
			default:
				n++
			}
		}
		return n
	}
	slices.SortFunc(folders, func(a, b string) int {
		if d := depth(b) - depth(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(folders)
}

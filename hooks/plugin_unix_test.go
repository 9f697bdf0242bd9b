//go:build unix

package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPluginBehindLinks: what lies behind a link is written and taken away there, and the link stays.
func TestPluginBehindLinks(t *testing.T) {
	for _, kind := range Pluggable() {
		p, s := newPlugin(t, kind)
		dotfiles := t.TempDir()
		if err := os.Mkdir(s.Folder, 0o700); err != nil {
			t.Fatal(err)
		}
		symlink(t, dotfiles, filepath.Join(s.Folder, "skills"))
		act(t, InstallPlugin, p, s)
		if len(tree(t, dotfiles)) < 3 {
			t.Errorf("%s: nothing lies behind the link", kind)
		}
		act(t, UninstallPlugin, p, s)
		sameTree(t, kind, tree(t, dotfiles), map[string]string{dotfiles + "/": ""})
		if to, err := os.Readlink(filepath.Join(s.Folder, "skills")); err != nil || to != dotfiles {
			t.Errorf("%s: the link leads to %q, %v", kind, to, err)
		}
	}
}

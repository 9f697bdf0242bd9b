package hooks

import "testing"

func TestCodexScreens(t *testing.T) {
	screenTable(t, "codex", 16, codexLook)
}

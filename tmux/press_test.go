package tmux

import "testing"

func TestKeyName(t *testing.T) {
	for _, key := range []string{"Enter", "enter", "C-c", "M-x", "C-M-Up", "1", "é", "-", "C--", "F12", "S-Tab", "PgDn", "C-Space", ";", "'", "C"} {
		if err := KeyName(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "Entr", "yes", "C-", "C-Entr", "F13", "ab", "\x1b", "\n", "C-M-", "MouseDown1Pane", "\xff"} {
		if KeyName(key) == nil {
			t.Errorf("%q was taken", key)
		}
	}
}

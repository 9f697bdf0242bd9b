package plugin

import (
	"strings"
	"testing"
)

// TestGuides: each loads a skill that is there, by a line that stands by itself, and holds nothing that differs from it.
func TestGuides(t *testing.T) {
	for _, g := range Guides() {
		if FindSkill(g.Name).Name == "" {
			t.Errorf("%s: no skill is called so", g.Name)
		}
		text := g.Text("$WORDS", "/a b/st")
		if !strings.Contains(text, "\n\n    st skills get "+g.Name+"\n\n") || strings.Count(text, "\n    ") != 1 {
			t.Errorf("%s: it does not stand for the one command:\n%s", g.Name, text)
		}
		if !strings.Contains(text, "'/a b/st'") || strings.Contains(text, "{{") || len(text) > 800 {
			t.Errorf("%s: %d bytes\n%s", g.Name, len(text), text)
		}
		if (g.Hint != "") != strings.Contains(text, "\n\n$WORDS\n") || strings.Contains(g.Text("", "st"), "$WORDS") {
			t.Errorf("%s: the words of the person:\n%s", g.Name, text)
		}
		if g.About == "" || len(g.About) > 400 || strings.ContainsAny(g.About, "\n<>") {
			t.Errorf("%s: about %q", g.Name, g.About)
		}
	}
}

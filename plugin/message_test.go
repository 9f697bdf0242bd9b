package plugin

import (
	"strings"
	"testing"
)

func TestMessageKeepsTheTextByteForByte(t *testing.T) {
	text := "use port 1\r\n---\n{{.Worker}} stays as it is"
	head, body, found := strings.Cut(Message(Letter{Message: "m3", Worker: "w2", Run: "r1", From: "agent a4", Text: text}), separator)
	if !found || body != text {
		t.Fatalf("the text came out as %q", body)
	}
	for _, want := range []string{"message m3", "worker w2", "run r1", "agent a4"} {
		if !strings.Contains(head, want) {
			t.Errorf("the head lacks %q:\n%s", want, head)
		}
	}
	if strings.Contains(head, "{{") {
		t.Errorf("a name without its value:\n%s", head)
	}
	for _, line := range strings.Split(head, "\n") {
		if line == "---" {
			t.Errorf("there is a separator inside the head:\n%s", head)
		}
	}
}

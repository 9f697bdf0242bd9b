package orch

import "testing"

// What keeps a message back is a code on the wire and a sentence for people.
func TestWhyHeld(t *testing.T) {
	for why, want := range map[string]string{
		working:                                "its turn runs",
		"permission":                           "it waits (permission)",
		NotWritten + "no space left on device": "its file can't be written: no space left on device",
	} {
		if got := WhyHeld(why); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}

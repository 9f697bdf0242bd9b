package hooks

import "testing"

// The hash as Codex 0.171.0 computes it and takes it.
func TestCodexTrust(t *testing.T) {
	got, err := codexTrust(codexEvent{"Stop", "stop", 10}, "/opt/st hook codex")
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:ee97c7a2b9f987eea2cc4a21b6bee289208b3b7893795b880af8b477b3dba1a4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

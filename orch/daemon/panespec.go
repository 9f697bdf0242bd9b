package daemon

import (
	"encoding/json"
	"fmt"
	"os"
)

// PaneSpec is what `st pane-run` is told by the file that is its only argument: what the pane runs. It holds
// secrets, so the file is 0600 and is gone as soon as it was read.
type PaneSpec struct {
	Agent string   `json:"agent"` // id
	Nonce string   `json:"nonce"` // the agent's secret; stands in Env too
	Home  string   `json:"home"`  // ST_HOME
	Argv  []string `json:"argv"`  // Argv[0] is an absolute path
	Env   []string `json:"env"`   // the agent's whole environment, NAME=value
	Dir   string   `json:"dir"`
	Self  string   `json:"self"` // path of st
	// Shell says that the pane goes on as a shell when the agent has ended.
	Shell bool `json:"shell,omitempty"`
}

// WritePaneSpec writes a spec for one start.
func WritePaneSpec(path string, spec PaneSpec) error {
	raw, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(raw); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// TakePaneSpec reads a spec and removes it. One that another user could have written or read is refused.
func TakePaneSpec(path string) (PaneSpec, error) {
	var spec PaneSpec
	info, err := os.Lstat(path)
	if err != nil {
		return spec, err
	}
	if err := private(info); err != nil {
		return spec, fmt.Errorf("%s: %w", path, err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return spec, err
	}
	if err := os.Remove(path); err != nil {
		return spec, err
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return spec, fmt.Errorf("%s: %w", path, err)
	}
	if len(spec.Argv) == 0 {
		return spec, fmt.Errorf("%s: it names no program", path)
	}
	return spec, nil
}

// private refuses what is no plain file of ours that only we may read.
func private(info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a plain file")
	}
	if err := owned(info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others may read it (mode %04o)", mode)
	}
	return nil
}

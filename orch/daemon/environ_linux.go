package daemon

import (
	"bytes"
	"fmt"
	"os"
)

// environOf is the environment with which a process was started; nil where it can't be read.
func environOf(pid int) (list []string) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil // it has ended: its answer will not be read either
	}
	for _, kv := range bytes.Split(raw, []byte{0}) {
		list = append(list, string(kv))
	}
	return list
}

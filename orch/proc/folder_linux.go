package proc

import (
	"fmt"
	"os"
)

// folder is the current folder of a process.
func folder(pid int) (string, error) { return os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)) }

//go:build linux || darwin

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ended waits until nothing runs that has one of these folders in its environment. An agent whose terminal has closed still
// writes its settings, and would write them over what the next test has put there. What has not ended by itself by then is
// killed.
func (b *desk) ended(folders ...string) {
	b.t.Helper()
	const own, killed = 10 * time.Second, 20 * time.Second
	patient := time.Now().Add(own)
	b.await(own+killed, "what ran in "+strings.Join(folders, " or ")+" has ended", func() (bool, string) {
		left := running(folders)
		for pid := range left {
			if time.Now().After(patient) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now; else it is seen again
			}
		}
		return len(left) == 0, fmt.Sprint(left)
	})
}

// running are the processes that have one of these folders in their environment, with their command lines: none where
// the system does not tell.
func running(folders []string) map[int]string {
	all := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		env, lost := os.ReadFile(f)
		if err != nil || lost != nil || pid == os.Getpid() {
			continue // it has just ended, or is somebody else's
		}
		for _, folder := range folders {
			if strings.Contains(string(env), folder) {
				argv, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline")) // it is only told
				all[pid] = strings.ReplaceAll(string(argv), "\x00", " ")
			}
		}
	}
	return all
}

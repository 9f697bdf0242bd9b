package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"st/orch/proc"
)

// withSecret finds the processes that have inherited an agent's environment. Those of other users can't be
// read and are not ours to end. The daemon itself is never among them.
func withSecret(secret string) []proc.Info {
	if secret == "" {
		return nil
	}
	want := []byte("ST_AGENT=" + secret)
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []proc.Info
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(file)
		if err != nil || !hasVariable(env, want) {
			continue // ended meanwhile, or not ours
		}
		if p, err := proc.Look(pid); err == nil && !p.Zombie {
			found = append(found, p)
		}
	}
	return found
}

func hasVariable(env, want []byte) bool {
	for _, kv := range bytes.Split(env, []byte{0}) {
		if bytes.Equal(kv, want) {
			return true
		}
	}
	return false
}

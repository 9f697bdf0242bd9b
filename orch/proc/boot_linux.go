package proc

import (
	"os"
	"strings"
)

// Boot identifies this boot of the computer: process ids of another mean nothing.
func Boot() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(raw)), err
}

package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func kernelChecks() []check { return []check{{"inotify", "", checkInotify}} }

// What is enough for the daemon (three instances, a watch for each live agent) beside editors and file browsers:
// what Linux has given since 2.6.
const (
	instancesEnough = 128
	watchesEnough   = 8192
)

// checkInotify: the daemon hears of agents' logs and of the spool by inotify, and agents watch files by it too.
func checkInotify(context.Context) finding {
	instances, watches := limitOf("instances"), limitOf("watches")
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if errors.Is(err, unix.EMFILE) {
		return fault([]string{"sysctl fs.inotify.max_user_instances=1024"}, "all %d instances of this user are in use", instances)
	}
	if err != nil {
		return fault(nil, "it can't be used: %v", err)
	}
	if err := unix.Close(fd); err != nil {
		return fault(nil, "it can't be used: %v", err)
	}
	switch {
	case instances < instancesEnough:
		return warning([]string{"sysctl fs.inotify.max_user_instances=1024"}, "max_user_instances is %d, low for a daemon and agents", instances)
	case watches < watchesEnough:
		return warning([]string{"sysctl fs.inotify.max_user_watches=65536"}, "max_user_watches is %d, low for a daemon and agents", watches)
	}
	return fine("%d instances, %d watches", instances, watches)
}

// limitOf reads a limit; 0 where the kernel doesn't tell.
func limitOf(what string) int {
	raw, err := os.ReadFile("/proc/sys/fs/inotify/max_user_" + what)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return n
}

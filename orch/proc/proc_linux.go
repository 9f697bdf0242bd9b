package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// status reads what /proc/PID/stat tells.
func status(pid int) (Info, error) {
	raw, err := read(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return Info{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err != nil {
		return Info{}, err
	}
	return parseStat(pid, raw)
}

// read reads a file of /proc. os.ReadFile first asks the poller whether one can wait for such a file: eight system calls
// more, and a hook has a dozen files read for it.
func read(path string) ([]byte, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	raw := make([]byte, 0, 1024)
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Read(fd, raw[len(raw):cap(raw)])
			return err
		})
		if err != nil || n <= 0 {
			return raw, err
		}
		if raw = raw[:len(raw)+n]; len(raw) == cap(raw) {
			raw = slices.Grow(raw, len(raw))
		}
	}
}

// again repeats a system call that a signal has interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// parseStat reads a stat line. The name in parentheses may hold blanks and parentheses itself, so the fields
// are counted from the last one (proc_pid_stat(5): state, ppid and pgrp are fields 3 to 5, starttime is 22).
func parseStat(pid int, raw []byte) (Info, error) {
	end := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[end+1:]))
	if end < 0 || len(fields) < 20 {
		return Info{}, fmt.Errorf("process %d: its status can't be read", pid)
	}
	ppid, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Info{}, fmt.Errorf("process %d: its status can't be read: %w", pid, err)
	}
	return Info{
		Process: Process{PID: pid, Start: start},
		PPID:    ppid, Group: group,
		Zombie:  fields[0] == "Z" || fields[0] == "X",
		Stopped: fields[0] == "T",
	}, nil
}

// ticks is how many of them starttime counts a second: USER_HZ, which is 100 on all that Go runs on (proc_pid_stat(5)).
const ticks = 100

// Began tells when a process started, to a hundredth of a second, by the time of day as it is now: the system keeps how long
// after the boot that was.
func Began(p Process) (time.Time, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, err
	}
	age := time.Duration(up.Nano()) - time.Duration(p.Start)*(time.Second/ticks)
	return time.Now().Add(-age), nil
}

// command reads which program a process runs. What belongs to another user can't be read.
func command(pid int) (exe string, argv []string) {
	if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		exe = strings.TrimSuffix(path, " (deleted)")
	}
	raw, err := read(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(raw) == 0 {
		return exe, nil
	}
	return exe, strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

// table lists all processes.
func table() ([]Info, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		info, err := status(pid)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// States of a process, SSTOP and SZOMB of sys/proc.h.
const (
	stopped = 4
	zombie  = 5
)

// status asks the kernel's process table.
func status(pid int) (Info, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	// A pid that isn't there gives an empty answer, which the call reports as EIO.
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
		return Info{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err != nil {
		return Info{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return fromKinfo(k), nil
}

func fromKinfo(k *unix.KinfoProc) Info {
	start := k.Proc.P_starttime
	return Info{
		Process: Process{PID: int(k.Proc.P_pid), Start: uint64(start.Sec)*1_000_000 + uint64(start.Usec)},
		PPID:    int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid),
		Zombie:  k.Proc.P_stat == zombie,
		Stopped: k.Proc.P_stat == stopped,
	}
}

// Began tells when a process started.
func Began(p Process) (time.Time, error) { return time.UnixMicro(int64(p.Start)), nil }

// command reads which program a process runs. What belongs to another user can't be read.
func command(pid int) (exe string, argv []string) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", nil
	}
	return parseArgs(raw)
}

// parseArgs reads the answer of kern.procargs2: the number of arguments, the program's path, zeros, the
// arguments, then the environment.
func parseArgs(raw []byte) (exe string, argv []string) {
	if len(raw) < 4 {
		return "", nil
	}
	n := int(binary.LittleEndian.Uint32(raw))
	path, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range n {
		arg, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		argv = append(argv, string(arg))
		rest = after
	}
	return string(path), argv
}

// table lists all processes.
func table() ([]Info, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]Info, 0, len(list))
	for i := range list {
		all = append(all, fromKinfo(&list[i]))
	}
	return all, nil
}

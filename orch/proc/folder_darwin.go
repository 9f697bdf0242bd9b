package proc

import (
	"bytes"
	"syscall"
	"unsafe"
)

// Of sys/proc_info.h: the call, the question, and the answer's layout, which is two times a vnode's facts with its path.
const (
	sysProcInfo    = 336 // SYS_proc_info
	callPIDInfo    = 2   // PROC_INFO_CALL_PIDINFO
	vnodePathInfo  = 9   // PROC_PIDVNODEPATHINFO
	vnodeInfoBytes = 152 // struct vnode_info
	pathBytes      = 1024
)

// folder is the current folder of a process, as the kernel tells it: what libproc's proc_pidinfo asks.
func folder(pid int) (string, error) {
	var answer [2 * (vnodeInfoBytes + pathBytes)]byte
	n, _, errno := syscall.Syscall6(sysProcInfo, callPIDInfo, uintptr(pid), vnodePathInfo, 0, uintptr(unsafe.Pointer(&answer)), unsafe.Sizeof(answer))
	if errno != 0 {
		return "", errno
	}
	if int(n) < vnodeInfoBytes+pathBytes {
		return "", syscall.ESRCH
	}
	path, _, _ := bytes.Cut(answer[vnodeInfoBytes:vnodeInfoBytes+pathBytes], []byte{0})
	return string(path), nil
}

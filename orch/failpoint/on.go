//go:build faults && unix

package failpoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The plan lies beside the program, not in the environment, of which a daemon and a pane keep next to nothing. The
// folder "faults" there holds
//
//	plan   a line a fault: POINT:N=WHAT, at the N-th time that any process reaches the point. WHAT is kill, "stop MS"
//	       (SIGSTOP, and SIGCONT after that time), "slow MS", or fail, at a point that can.
//	NAME   the number that Number gives under this name
//	boot   the boot of the computer, as Boot tells it
//	clock  how far the time of day is off, as time.ParseDuration reads it
//	hits/  a file a point, one byte for each time that it was reached
//	fired  a line for each fault that came
//
// Without the folder nothing is done.
var folder = func() string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return filepath.Join(filepath.Dir(self), "faults")
}()

// ErrPlanned is what fails because a test wants it: it looks like a full disk.
var ErrPlanned = fmt.Errorf("planned: %w", syscall.ENOSPC)

// At is a moment at which a test may end or hold up this process.
func At(name string) {
	if Fail(name) != nil {
		panic("failpoint: nothing can fail at " + name)
	}
}

// Fail is a point at which a test may also let fail what follows; nil where it goes on.
func Fail(name string) error {
	n := hit(name)
	if n == 0 {
		return nil
	}
	plan, err := os.ReadFile(filepath.Join(folder, "plan"))
	if err != nil {
		return nil
	}
	want := fmt.Sprintf("%s:%d=", name, n)
	for rows := bufio.NewScanner(bytes.NewReader(plan)); rows.Scan(); {
		if what, ok := strings.CutPrefix(rows.Text(), want); ok {
			note(rows.Text())
			return act(what)
		}
	}
	return nil
}

// hit counts the point and tells how many times it was reached, by all processes together; 0 where nobody wants to
// know. The kernel puts each byte at the file's end, so that no two processes have the same number.
func hit(name string) int64 {
	f, err := os.OpenFile(filepath.Join(folder, "hits", name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0
	}
	defer f.Close()
	if _, err := f.Write([]byte{'.'}); err != nil {
		return 0 // this process may write no more: a test has it so
	}
	n, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return n
}

func note(row string) {
	f, err := os.OpenFile(filepath.Join(folder, "fired"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	fmt.Fprintf(f, "%s pid %d at %s\n", row, os.Getpid(), time.Now().UTC().Format(time.RFC3339Nano))
	f.Close()
}

func act(what string) error {
	word, ms, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(ms) // 0 where the word takes no time
	switch word {
	case "fail":
		return ErrPlanned
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // it comes at once, but maybe not to this thread
	case "stop":
		wake := exec.Command("/bin/sh", "-c", fmt.Sprintf("sleep %d.%03d; kill -CONT %d", n/1000, n%1000, os.Getpid()))
		wake.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := wake.Start(); err != nil {
			panic(err)
		}
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		go wake.Wait()
	case "slow":
		time.Sleep(time.Duration(n) * time.Millisecond)
	default:
		panic("failpoint: the plan wants " + what)
	}
	return nil
}

// Number is n, unless a test wants another number under this name.
func Number(name string, n int) int {
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return n
	}
	if n, err = strconv.Atoi(strings.TrimSpace(string(raw))); err != nil {
		panic(err)
	}
	return n
}

// Now is the time of day, which a test may set.
func Now() time.Time {
	raw, err := os.ReadFile(filepath.Join(folder, "clock"))
	if errors.Is(err, os.ErrNotExist) {
		return time.Now()
	}
	off, err := time.ParseDuration(strings.TrimSpace(string(raw)))
	if err != nil {
		return time.Now() // being written
	}
	// The monotonic reading would hide the jump from whoever subtracts.
	return time.Now().Round(0).Add(off)
}

// Boot is the boot of the computer, unless a test says that it is another.
func Boot(boot string) string {
	if raw, err := os.ReadFile(filepath.Join(folder, "boot")); err == nil {
		return strings.TrimSpace(string(raw))
	}
	return boot
}

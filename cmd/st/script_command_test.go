//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"st/orch/proc/proctest"
)

// killdaemon, stopdaemon, contdaemon.
func signalDaemon(sig syscall.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		pid := daemonPID(ts.Getenv("ST_HOME"))
		if pid == 0 || !benchOf(ts).owns(pid) {
			ts.Fatalf("no daemon of this script runs")
		}
		if sig == syscall.SIGSTOP {
			ts.Check(proctest.Stop(pid))
			return
		}
		ts.Check(syscall.Kill(pid, sig))
		if sig != syscall.SIGKILL {
			return
		}
		poll(ts, "the daemon is gone", func() (bool, string) {
			return !benchOf(ts).owns(pid), describe([]int{pid})
		})
	}
}

// code N CMD…: run a command and want that exit code.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD…")
	}
	if got := execCode(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, not %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func execCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// eventually REGEX CMD…: run a command until it ends with 0 and its stdout matches.
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually REGEX CMD…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	poll(ts, strings.Join(args[1:], " ")+" says "+args[0], func() (bool, string) {
		code := execCode(ts, args[1:])
		out := ts.ReadFile("stdout")
		return code == 0 && re.MatchString(out), fmt.Sprintf("exit %d\n%s%s", code, out, ts.ReadFile("stderr"))
	})
}

// big FILE N: a file of N bytes of text.
func cmdBig(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: big FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)), 0o600))
}

// interrupt NAME: Ctrl-C for a command that was started with &NAME&. What it printed is then on stdout and
// stderr; its exit code is in the script's own hands.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
}

// storm N CODE CMD…: the same command N times at once; each must end with that code. # in an argument becomes
// the number.
func cmdStorm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: storm N CODE CMD…")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	faults := make(chan string, n)
	var all sync.WaitGroup
	env := append(benchOf(ts).env(ts), "TMUX="+ts.Getenv("TMUX"), "TMUX_PANE="+ts.Getenv("TMUX_PANE"))
	program, err := lookIn(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	for i := range n {
		argv := make([]string, len(args)-3)
		for k, a := range args[3:] {
			argv[k] = strings.ReplaceAll(a, "#", strconv.Itoa(i+1))
		}
		all.Go(func() {
			cmd := exec.Command(program, argv...)
			cmd.Dir, cmd.Env = ts.Getenv("WORK"), env
			out, err := proctest.CombinedOutput(cmd)
			if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[1] {
				faults <- fmt.Sprintf("%q: exit %s: %v\n%s", argv, got, err, out)
			}
		})
	}
	all.Wait()
	close(faults)
	for f := range faults {
		ts.Fatalf("%s", f)
	}
}

func lookIn(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: not in PATH", name)
}

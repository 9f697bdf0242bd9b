//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"st/orch/proc/proctest"
)

func TestMain(m *testing.M) { testscript.Main(tidy{m}, map[string]func(){"st": main}) }

// tidy removes what tests of the package share.
type tidy struct{ m *testing.M }

// shared is a folder that goes with the last test; "" for none.
var shared string

func (t tidy) Run() int {
	// What a shell starts in the background is deaf to Ctrl-C, and so would be all that is started here.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	code := t.m.Run()
	if err := os.RemoveAll(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// limit is how long a script waits for anything before it fails with what it saw last.
const limit = 30 * time.Second

// scriptLimit is how long one script may take in all, which none comes near.
const scriptLimit = proctest.Limit

const tick = 60 * time.Millisecond

// pause is between two looks at what was first looked for at that time: mostly it comes soon, and each look may cost the
// start of a program, so the longer it takes the rarer they are.
func pause(since time.Time) { time.Sleep(min(max(time.Since(since)/5, tick/2), 200*time.Millisecond)) }

// beside lets a test run beside others, since all of them wait more than they compute. The long counts run alone, for the sake of
// their figures.
func beside(t *testing.T) {
	if os.Getenv("ST_LONG") == "" {
		t.Parallel()
	}
}

// TestScript runs testdata/script: each script has a tmux server, a HOME, an ST_HOME and a daemon of its own.
// st stands for this test binary under that name.
func TestScript(t *testing.T) {
	beside(t)
	if testing.Short() {
		t.Skip("scripts need tmux and minutes")
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setUp,
		RequireUniqueNames: true,
		Condition:          condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"tmux": cmdTmux, "session": cmdSession, "inpane": cmdInPane, "screen": cmdScreen, "person": cmdPerson,
			"killdaemon": signalDaemon(syscall.SIGKILL), "stopdaemon": signalDaemon(syscall.SIGSTOP),
			"contdaemon": signalDaemon(syscall.SIGCONT),
			"code":       cmdCode, "eventually": cmdEventually, "json": cmdJSON, "outside": cmdOutside, "big": cmdBig,
			"interrupt": cmdInterrupt, "storm": cmdStorm, "byhand": cmdByHand, "awake": cmdAwake, "quiet": cmdQuiet, "control": cmdControl, "stray": cmdStray,
		},
	})
}

func setUp(env *testscript.Env) error {
	dir, err := os.MkdirTemp("/tmp", "st-s")
	if err != nil {
		return err
	}
	b := &bench{dir: dir, people: map[string]*os.File{}}
	b.socket = filepath.Join(dir, "t", fmt.Sprintf("tmux-%d", os.Getuid()), "default")
	for _, d := range []string{"home", filepath.Dir(b.socket)} {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	env.Values[benchKey{}] = b
	for name, value := range map[string]string{
		"HOME": filepath.Join(dir, "home"), "ST_HOME": filepath.Join(dir, "st"), "TMUX_TMPDIR": filepath.Join(dir, "t"), "SOCKET": filepath.Join(dir, "t", fmt.Sprintf("tmux-%d", os.Getuid()), "default"),
		"TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/sh", "PS1": "$ ", "BENCH": dir,
	} {
		env.Setenv(name, value)
	}
	end := b.limited(scriptLimit)
	env.Defer(func() {
		err := end()
		if err = errors.Join(err, b.end(env.Getenv("ST_HOME"))); err != nil {
			env.T().Fatal(err)
		}
	})
	return nil
}

func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Getuid() == 0, nil
	case "proc":
		_, err := os.Stat("/proc/self/environ")
		return err == nil, nil
	case "long":
		return os.Getenv("ST_LONG") != "", nil
	}
	return false, fmt.Errorf("no condition is called %q", cond)
}

// poll waits until a condition holds.
func poll(ts *testscript.TestScript, what string, is func() (ok bool, saw string)) {
	for begun := time.Now(); ; pause(begun) {
		ok, saw := is()
		if ok {
			return
		}
		if time.Since(begun) > limit {
			ts.Fatalf("not within %v: %s; seen last:\n%s", limit, what, saw)
		}
	}
}

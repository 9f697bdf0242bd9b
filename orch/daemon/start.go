package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"st/orch"
)

// startTime is how long a daemon may take until it accepts.
var startTime = 30 * time.Second

// handOverTime is how long a new daemon waits for one that is stopping.
var handOverTime = 10 * time.Second

var errBusy = errors.New("somebody else has the lock")

// daemonEnv is all that a daemon keeps of the environment of whoever started it.
var daemonEnv = []string{"PATH", "HOME", "LANG", "TMUX_TMPDIR"}

// startDaemon starts the daemon of c's home, once however many clients do so at the same time: whoever gets
// the start lock starts it, the others find it running.
func startDaemon(ctx context.Context, c *Client) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := Prepare(c.home); err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(runDir(c.home), "start.lock"))
	if err != nil {
		return startFault(c.home, err)
	}
	defer lock.Close()
	_, err = c.Hello(ctx)
	if err == nil {
		return nil
	}
	if !absent(err) && !broken(err) {
		return unreachable(c.home, err)
	}
	for range launches {
		if err = launch(ctx, c.home); !errors.Is(err, errKilled) {
			return err
		}
	}
	return startFault(c.home, err)
}

// launches is how often a daemon is started that somebody kills before it accepts: the machine's memory killer, or who
// meant the one before it.
const launches = 3

// errKilled says that a daemon was killed before it said anything.
var errKilled = errors.New("it was killed while it started")

// launch runs `st daemon` and waits until it says on its standard output that it accepts, or why not; errKilled where
// it was killed before.
func launch(ctx context.Context, home string) error {
	self, err := Self()
	if err != nil {
		return startFault(home, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return startFault(home, err)
	}
	defer r.Close()
	defer w.Close()
	logFile, err := os.OpenFile(LogPath(home), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return homeFault(LogPath(home), err)
	}
	defer logFile.Close()
	before, err := logFile.Seek(0, io.SeekEnd)
	if err != nil {
		return startFault(home, err)
	}
	cmd := exec.Command(self, "daemon")
	cmd.Dir, cmd.Env = "/", cleanEnv(home)
	cmd.Stdout, cmd.Stderr = w, logFile
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return startFault(home, err)
	}
	w.Close()
	// The daemon outlives us; should it end first, somebody has to ask for its exit status.
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	release := context.AfterFunc(ctx, func() { r.Close() })
	defer release()
	return started(ctx, home, r, before, ended)
}

// started reads the daemon's word. Where it ended without one, the last line it wrote to its log has to do.
func started(ctx context.Context, home string, r *os.File, before int64, ended <-chan error) error {
	_, err := readAnswer(bufio.NewReader(r))
	if err == nil || refused(err) {
		return err
	}
	if ctx.Err() != nil {
		return startFault(home, errors.New("it did not accept in time"))
	}
	select {
	case <-ctx.Done():
	case err := <-ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) && killed(exit.ProcessState) {
			return errKilled
		}
	}
	return startFault(home, fmt.Errorf("it ended at once: %s", lastLine(home, before)))
}

// lastLine is what a daemon that died wrote to its log: the head of a panic, else its last line.
func lastLine(home string, before int64) string {
	f, err := os.Open(LogPath(home))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Seek(before, io.SeekStart); err != nil {
		return err.Error()
	}
	last := "it wrote nothing"
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		if text != "" {
			last = text
		}
	}
	return last
}

func startFault(home string, err error) error {
	var e *orch.Error
	if errors.As(err, &e) {
		return e
	}
	return &orch.Error{
		Code: codeUnreachable, Message: fmt.Sprintf("the daemon can't be started: %v", err),
		Hint: "its log is " + LogPath(home), Next: []string{"st status"},
	}
}

// cleanEnv is the environment of a daemon: no agent's, no pane's.
func cleanEnv(home string) []string {
	env := []string{"ST_HOME=" + home}
	for _, name := range daemonEnv {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Self is the path of this program as it should be called again: the one by which we were called, if that is
// the same file, else where it really lies.
func Self() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", err
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return real, nil
	}
	if called, err = filepath.Abs(called); err != nil || !sameFile(called, real) {
		return real, nil
	}
	return called, nil
}

func sameFile(a, b string) bool {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	return erra == nil && errb == nil && os.SameFile(ia, ib)
}

// takeOver has an older daemon stop and starts ours.
func takeOver(ctx context.Context, c *Client) error {
	if _, err := c.stop(ctx, Stop{ForProtocol: protocol}); err != nil {
		return err
	}
	if err := c.AwaitStop(ctx); err != nil {
		return err
	}
	return startDaemon(ctx, c)
}

// AwaitStop waits until no daemon holds the home, for a bounded time (then store_locked).
func (c *Client) AwaitStop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	lock, err := lockFile(ctx, lockPath(c.home))
	if errors.Is(err, context.DeadlineExceeded) {
		return stillRuns(c.home)
	}
	if err != nil {
		return startFault(c.home, err)
	}
	return lock.Close()
}

func stillRuns(home string) error {
	return &orch.Error{
		Code:    "store_locked",
		Message: fmt.Sprintf("another daemon (pid %d) holds %s", lockHolder(home), home),
		Next:    []string{"st status"},
	}
}

func lockPath(home string) string { return filepath.Join(runDir(home), "lock") }

// lockHolder reads which process wrote itself into home's lock; 0 where that can't be read. The lock itself
// is what counts, this is for messages.
func lockHolder(home string) int {
	raw, err := os.ReadFile(lockPath(home))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// lockFile opens a file and waits for its lock until ctx is done. The lock ends with the file's closing, also
// by the end of the process.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, homeFault(path, err)
	}
	if err := flock(f, false); err == nil {
		return f, nil
	} else if !errors.Is(err, errBusy) {
		f.Close()
		return nil, err
	}
	got := make(chan error, 1)
	go func() { got <- flock(f, true) }()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	case <-ctx.Done():
		go func() { // the call can't be taken back: whatever it gets is given up again
			<-got
			f.Close()
		}()
		return nil, ctx.Err()
	}
}

// Held is a home that this process alone serves.
type Held struct {
	Home string
	Log  *log.Logger // ids only, never a text of an agent
	Stop func()      // ends the daemon
	// Ready tells whoever started the daemon that it accepts; call it once after Server.Listen.
	Ready func()
}

// Main is the process of a daemon. It takes home's lock and log, calls run, and tells whoever started it
// whether that came to accept or why not: an *orch.Error of run (store_locked, store_corrupt,
// store_read_only) reaches the verb that started the daemon as it is. ctx of run ends by SIGTERM, SIGINT or
// Held.Stop. The result is the exit code.
func Main(home string, run func(ctx context.Context, held *Held) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	out := os.Stdout
	told := false
	tell := func(a answerLine) {
		if told {
			return
		}
		told = true
		if line, err := encodeLine(a); err == nil {
			out.Write(line) // whoever started us may be gone
		}
		become(os.Stderr, 1) // then standard output stays what it was
	}
	held := &Held{Home: home, Stop: stop, Ready: func() { tell(answerLine{OK: true}) }}
	err := hold(ctx, held, run)
	if err == nil {
		return 0
	}
	if held.Log != nil {
		held.Log.Printf("daemon: ended: %v", err)
	}
	tell(answerLine{Error: asError(err)})
	return 8
}

// hold runs with home's lock and log.
func hold(ctx context.Context, held *Held, run func(context.Context, *Held) error) error {
	if err := Prepare(held.Home); err != nil {
		return err
	}
	lock, err := takeHome(ctx, held.Home)
	if err != nil {
		return err
	}
	defer lock.Close()
	logFile, err := OpenLog(LogPath(held.Home))
	if err != nil {
		return err
	}
	defer logFile.Close()
	held.Log = log.New(logFile, "", log.LstdFlags|log.LUTC)
	held.Log.Printf("daemon: pid %d, protocol %d", os.Getpid(), protocol)
	if err := run(ctx, held); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	held.Log.Printf("daemon: stopped")
	return nil
}

// takeHome takes home's lock and writes who has it. A daemon that is stopping gets a moment to end.
func takeHome(ctx context.Context, home string) (*os.File, error) {
	wait, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	lock, err := lockFile(wait, lockPath(home))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, stillRuns(home)
	}
	if err != nil {
		return nil, err
	}
	if err = lock.Truncate(0); err == nil {
		_, err = fmt.Fprintf(lock, "%d\n", os.Getpid())
	}
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		lock.Close()
		return nil, homeFault(lockPath(home), err)
	}
	return lock, nil
}

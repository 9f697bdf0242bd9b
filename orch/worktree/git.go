// Package worktree is git: the only place that runs it. It finds facts about repositories, working trees and branches, and
// does single acts on them: make a worktree, merge, save, remove. Each act leaves things as they were where it fails, or
// says what stands. Nothing is asked of a person, and no shell is used.
//
// What a function refuses it names. Beside that each fails with a *Failure where git ended badly or was too slow, and with
// ErrNoGit without a git.
//
// What is left to others: which act is wanted, and whether the facts allow it.
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// readTime is how long a question may take: a big repository on a slow disk answers in seconds.
const readTime = time.Minute

// ErrNoGit says that git is not installed.
var ErrNoGit = errors.New("git is not in PATH")

// Failure is a git that ended badly.
type Failure struct {
	Verb string        // "worktree add"
	Code int           // its exit status, -1 where it was ended
	Said string        // what it wrote to its standard error, without blanks around
	Late time.Duration // the time that it had and that is over; 0 where it ended by itself
}

func (f *Failure) Error() string {
	if f.Late > 0 {
		return fmt.Sprintf("git %s did not end within %v%s", f.Verb, f.Late, behind(": ", f.Said))
	}
	if f.Said == "" {
		return fmt.Sprintf("git %s: exit status %d", f.Verb, f.Code)
	}
	return fmt.Sprintf("git %s: %s", f.Verb, f.Said)
}

func behind(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}

// call is one run of git.
type call struct {
	dir   string // in which it runs
	args  []string
	limit time.Duration
	stdin string
	env   []string
	reads bool // it changes nothing, and takes no lock on the way
}

// asks is a call that only reads.
func asks(dir string, args ...string) call {
	return call{dir: dir, args: args, limit: readTime, reads: true}
}

// acts is a call that changes something.
func acts(dir string, limit time.Duration, args ...string) call {
	return call{dir: dir, args: args, limit: limit}
}

// steady are settings that must not differ from one person to the next: a monitor or an upkeep of the repository would
// be left running behind us, a diff is compared with another, what was noted of a file is compared in full, and a history
// is told without what a program says of its signatures.
var steady = []string{"-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.quotePath=false",
	"-c", "core.untrackedCache=false", "-c", "core.checkStat=default", "-c", "core.trustCtime=true", "-c", "log.showSignature=false",
	"-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "advice.detachedHead=false"}

type hooksWanted struct{}

// WithHooks has git run the hooks of the repository. Without it none runs: whoever may write into the repository would have
// us run what they like.
func WithHooks(ctx context.Context) context.Context {
	return context.WithValue(ctx, hooksWanted{}, true)
}

// tellsCase tells whether two files in a working tree may differ by the case of their names alone. git is told by a setting,
// which somebody may have copied from elsewhere: of two such files it would see one.
func tellsCase(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return false // it is no working tree, or one of its folders
	}
	_, err := os.Lstat(filepath.Join(dir, ".GIT"))
	return errors.Is(err, fs.ErrNotExist)
}

// do runs git and returns what it wrote to its standard output. A bad end is a *Failure.
func (c call) do(ctx context.Context) (string, error) {
	within, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	args := append([]string{}, steady...)
	if ctx.Value(hooksWanted{}) == nil {
		args = append(args, "-c", "core.hooksPath="+os.DevNull)
	}
	if c.reads {
		args = append(args, "--no-optional-locks")
	}
	if tellsCase(c.dir) {
		args = append(args, "-c", "core.ignoreCase=false")
	}
	cmd := exec.CommandContext(within, "git", append(append(args, "-C", c.dir), c.args...)...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &out, &said
	cmd.Env = append(append(environment(), plain(ctx)...), c.env...)
	endTogether(cmd)
	cmd.WaitDelay = 2 * time.Second // a hook may have left something behind that holds our pipe
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", ErrNoGit
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return "", &Failure{Verb: c.verb(), Code: -1, Said: tail(said), Late: c.limit}
	case errors.As(err, &exit):
		return out.String(), &Failure{Verb: c.verb(), Code: exit.ExitCode(), Said: tail(said)}
	}
	return "", fmt.Errorf("git %s: %w", c.verb(), err)
}

// tail is the last that git said, at most 2 KiB of it: a hook may be talkative.
func tail(b bytes.Buffer) string {
	text := strings.TrimSpace(b.String())
	if most := 2 << 10; len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// verb is what the call is called in messages: its words up to the first flag or path.
func (c call) verb() string {
	args := c.args
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	if len(args) > 1 && args[0] == "worktree" {
		return args[0] + " " + args[1]
	}
	return args[0]
}

// line is do for an answer of one line.
func (c call) line(ctx context.Context) (string, error) {
	out, err := c.do(ctx)
	return strings.TrimSpace(out), err
}

// words is do for an answer of words that end with NUL.
func (c call) words(ctx context.Context) ([]string, error) {
	out, err := c.do(ctx)
	return split(out), err
}

// split cuts a text at its NULs.
func split(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// yes is do for a question that git answers by its exit status: 0 and 1.
func (c call) yes(ctx context.Context) (bool, error) {
	_, err := c.do(ctx)
	if code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// code is the exit status of a failure, 0 for none, -1 where there was none.
func code(err error) int {
	var f *Failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		return f.Code
	}
	return -1
}

// environment is ours without what names another repository, and with what keeps git from asking.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANGUAGE=") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_MERGE_AUTOEDIT=no")
}

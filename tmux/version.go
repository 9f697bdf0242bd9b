package tmux

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// ErrTooOld is a tmux before 3.2, which knows no filter for list-panes.
var ErrTooOld = errors.New("tmux 3.2 or newer is needed")

// Version is a tmux release.
type Version struct {
	Major, Minor int    // 3 and 3; of a build that carries no number 99 and 0
	Text         string // as tmux prints it: "3.3a", "next-3.6", "openbsd-7.4"
}

func (v Version) String() string { return v.Text }

// AtLeast reports whether v is that release or a later one.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// InstalledVersion asks the tmux in PATH. ErrNotInstalled where there is none; with ErrTooOld the version is returned too.
func InstalledVersion(ctx context.Context) (Version, error) {
	out, err := exec.CommandContext(ctx, "tmux", "-V").Output()
	if err != nil {
		return Version{}, failure("-V", "", err)
	}
	v, err := parseVersion(string(out))
	if err != nil {
		return Version{}, err
	}
	if !v.AtLeast(3, 2) {
		return v, fmt.Errorf("%w: this one is %s", ErrTooOld, v)
	}
	return v, nil
}

// ServerVersion asks the server that runs at the socket, which may be older than the tmux in PATH: it was started
// before that was replaced. ErrNoServer where none runs.
func (t *Tmux) ServerVersion(ctx context.Context) (Version, error) {
	out, err := t.ask(ctx, Cmd{"display-message", "-p", "tmux #{version}"})
	if err != nil {
		return Version{}, err
	}
	return parseVersion(out)
}

// newest stands for builds that carry no release number: "master", and OpenBSD's own, which follow it.
const newest = 99

func parseVersion(out string) (Version, error) {
	line, _, _ := strings.Cut(out, "\n")
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "tmux ")
	if !ok {
		return Version{}, fmt.Errorf("tmux -V says %q", line)
	}
	v := Version{Text: text}
	if text == "master" || strings.HasPrefix(text, "openbsd-") {
		v.Major = newest
		return v, nil
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(text, "next-"), ".")
	var err1, err2 error
	v.Major, err1 = strconv.Atoi(major)
	v.Minor, err2 = strconv.Atoi(leadingDigits(rest))
	if err := errors.Join(err1, err2); err != nil {
		return Version{}, fmt.Errorf("tmux -V says %q", line)
	}
	return v, nil
}

func leadingDigits(s string) string {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return "0"
	}
	return s[:end]
}

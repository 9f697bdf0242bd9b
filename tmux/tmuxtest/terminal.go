package tmuxtest

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// Terminal runs a command in a terminal of its own, and with nothing above it: what has started the test is no part of its
// ancestry, be that an agent or another tmux. It ends when the terminal, which has to be read, is closed.
func Terminal(env []string, columns, rows uint16, argv ...string) (*os.File, error) {
	// A shell gives its background job no input but what it is told to; and as no terminal is the shell's own, none hangs up with it.
	c := exec.Command("sh", append([]string{"-c", `exec 3<&0; "$@" <&3 >&3 2>&3 3<&- &`, "sh"}, argv...)...)
	c.Env = env
	tty, err := pty.StartWithAttrs(c, &pty.Winsize{Cols: columns, Rows: rows}, &syscall.SysProcAttr{})
	if err != nil {
		return nil, err
	}
	if err := c.Wait(); err != nil {
		tty.Close()
		return nil, err
	}
	return tty, nil
}

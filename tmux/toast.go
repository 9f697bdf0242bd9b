package tmux

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Toast shows a line on every person's terminal for d (whole milliseconds), or until a key is pressed, and rings its bell. It
// returns on how many; of those that could not be reached the first error.
func (t *Tmux) Toast(ctx context.Context, text string, d time.Duration) (shown int, err error) {
	clients, err := t.Clients(ctx)
	if err != nil {
		return 0, err
	}
	line := toast(text)
	for _, c := range clients {
		_, said := t.Run(ctx, Cmd{"display-message", "-c", c.Name, "-d", strconv.FormatInt(d.Milliseconds(), 10), line})
		if said == nil {
			shown++
			said = ring(c.TTY)
		}
		if err == nil {
			err = said
		}
	}
	return shown, err
}

// toast makes a text safe for display-message, which expands formats, runs them through strftime and, when it draws what
// came out, takes "#[" for a style.
func toast(text string) string {
	text = strings.ReplaceAll(printable(text), "#[", "# [")
	return strings.ReplaceAll(quote(text), "%", "%%")
}

// ring rings a terminal's bell. No command of tmux does (3.3a): a bell in a pane would mark that pane's window.
func ring(tty string) error {
	if tty == "" {
		return nil
	}
	f, err := os.OpenFile(tty, os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\a")
	return errors.Join(err, f.Close())
}

// SetUserOption gives a user option (its name begins with @) a value on the server as a whole; "" unsets it. A status line
// that has #{NAME} in it shows the value as it stands: no format in it is expanded.
func (t *Tmux) SetUserOption(ctx context.Context, name, value string) error {
	cmd := Cmd{"set-option", "-gq", name, value}
	if value == "" {
		cmd = Cmd{"set-option", "-gqu", name}
	}
	_, err := t.Run(ctx, cmd)
	return err
}

package tmuxtest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/creack/pty"
)

// Person is a client attached from a terminal of its own: somebody who looks and types.
type Person struct {
	s    *Server
	tty  *os.File
	mu   sync.Mutex
	seen strings.Builder
}

// Attach attaches a person to a session in a terminal of that size, and returns when tmux shows them.
func (s *Server) Attach(session string, columns, rows uint16) *Person {
	s.t.Helper()
	c := s.command("attach-session", "-t", "="+session)
	tty, err := pty.StartWithSize(c, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		s.t.Fatal(err)
	}
	p := &Person{s: s, tty: tty}
	go p.watch()
	s.t.Cleanup(func() { p.leave(c) })
	s.wait("a person is attached to "+session, func() (bool, string) {
		clients := s.Run("list-clients", "-F", "#{client_pid} #{session_name}")
		return strings.Contains(clients, session), clients
	})
	return p
}

func (p *Person) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.tty.Read(buffer)
		p.mu.Lock()
		p.seen.Write(buffer[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *Person) leave(c *exec.Cmd) {
	// Closing the terminal hangs the client up; its status says nothing.
	p.tty.Close()
	c.Process.Kill()
	c.Wait()
}

// Type presses keys, as bytes: "\r" is Enter, "\x02" tmux's prefix.
func (p *Person) Type(keys string) {
	p.s.t.Helper()
	if _, err := io.WriteString(p.tty, keys); err != nil {
		p.s.t.Fatal(err)
	}
}

// Seen is everything the terminal was sent so far, with its sequences.
func (p *Person) Seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

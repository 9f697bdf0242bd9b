package tmuxtest

import (
	"io"
	"os"
	"strings"
	"sync"
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
	tty, err := Terminal(Env(s.dir), columns, rows, "tmux", "-u", "-S", s.socket, "attach-session", "-t", "="+session)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &Person{s: s, tty: tty}
	go p.watch()
	s.t.Cleanup(func() { p.tty.Close() }) // which hangs the client up
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

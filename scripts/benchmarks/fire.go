//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/orch/daemon"
)

// A firer is this program again, run by the built-in agent in a worker's pane: it sends hooks of that agent when it is
// told to, without the start of a process in between.
const firerVerb = "fire-hooks"

// fired is the firer's answer.
type fired struct {
	At    time.Time // just before the hook was sent
	Error string
}

func firerMain(args []string) int {
	if len(args) != 1 {
		return 2
	}
	if err := fireHooks(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fireHooks sends the event of each line that comes in on the socket, until the connection ends.
func fireHooks(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	home, from, lines := os.Getenv("ST_HOME"), daemon.FromEnv(os.Getenv), bufio.NewScanner(conn)
	for lines.Scan() {
		body := map[string]any{"kind": "demo", "payload": map[string]string{"hook_event_name": lines.Text(), "tool_name": "Bash"}}
		answer := fired{At: time.Now()}
		if err := daemon.Report(5*time.Second, home, "hook", from, body, true, nil); err != nil {
			answer.Error = err.Error()
		}
		if err := json.NewEncoder(conn).Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// firer is the bench's end of it.
type firer struct {
	conn net.Conn
	r    *bufio.Reader
}

// newFirer starts a worker of that name which fires hooks.
func (r *rig) newFirer(name string) (*firer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	socket, task := filepath.Join(r.dir, name+".sock"), filepath.Join(r.dir, name+".md")
	if err := os.WriteFile(task, []byte(strings.Join([]string{"run", self, firerVerb, socket}, " ")+"\n"), 0o600); err != nil {
		return nil, err
	}
	if _, err := r.run("worker", "start", "--agent", "demo", "--name", name, "--task", task); err != nil {
		return nil, err
	}
	f := &firer{}
	err = until(20*time.Second, "the firer listens", func() (bool, error) {
		f.conn, err = net.Dial("unix", socket)
		return err == nil, nil
	})
	if err != nil {
		return nil, err
	}
	f.r = bufio.NewReader(f.conn)
	return f, nil
}

// fire sends an event and returns when it was sent. The daemon has answered it by then.
func (f *firer) fire(event string) (time.Time, error) {
	var a fired
	if _, err := fmt.Fprintln(f.conn, event); err != nil {
		return a.At, err
	}
	line, err := f.r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a.At, err
}

// Close ends the firer, and with that the worker's command.
func (f *firer) Close() error { return f.conn.Close() }

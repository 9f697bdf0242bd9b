//go:build linux

package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateSession = flag.Bool("update", false, "write the session in the README anew")

// sessionFiles are what lies in the folder in which the session begins.
var sessionFiles = map[string]string{"count.md": "run wc -w <count.md >words.txt\ndone counted the words of count.md into words.txt\n"}

// TestSession types the commands of the README's first session into a real st, one after the other, and wants the README
// to say what it says. scripts/session writes it anew.
func TestSession(t *testing.T) {
	beside(t)
	readme := filepath.Join("..", "..", "README.md")
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(raw), "\n```\n")
	session, tail, found := strings.Cut(rest, "\n```\n")
	if !found || !strings.HasPrefix(session, "$ st ") {
		t.Fatalf("the README's first block is no session:\n%s", session)
	}
	got := newDesk(t).session(session)
	if *updateSession {
		if err := os.WriteFile(readme, []byte(head+"\n```\n"+got+"\n```\n"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if timeless(got) != timeless(session) {
		t.Errorf("the README says\n%s\nand st says\n%s\nscripts/session writes it anew", session, got)
	}
}

// session types the commands of a session and answers it with what st says now.
func (d *desk) session(session string) string {
	d.t.Helper()
	for name, text := range sessionFiles {
		if err := os.WriteFile(filepath.Join(d.server.Dir(), name), []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	var said bytes.Buffer
	for _, line := range strings.Split(session, "\n") {
		command, typed := strings.CutPrefix(line, "$ ")
		if !typed {
			continue
		}
		said.WriteString(line + "\n")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.Dir, c.Env, c.Stdout, c.Stderr = d.server.Dir(), d.env, &said, &said
		if err := c.Run(); err != nil {
			d.t.Fatalf("%s: %v\n%s", command, err, said.String())
		}
	}
	return strings.TrimSuffix(said.String(), "\n")
}

// lasted is what differs from one time to the next.
var lasted = regexp.MustCompile(`\d+(\.\d+)? (ms|s)\b`)

func timeless(session string) string { return lasted.ReplaceAllString(session, "N s") }

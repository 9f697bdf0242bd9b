//go:build unix

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/google/uuid"
	"golang.org/x/term"
)

// Main runs the agent on a terminal until it quits and returns its exit status. args are what follows the
// verb; env is its environment, which its hooks and commands get too.
func Main(ctx context.Context, args []string, stdin, stdout *os.File, env []string) int {
	o, err := parseOptions(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var a *agent
	if err == nil {
		a, err = newAgent(o, env)
	}
	if err != nil {
		fmt.Fprintf(stdout, "st %s: %v\n", Verb, err)
		return 1
	}
	defer a.unregister()
	if o.Nasty.on("dies-at-start") {
		fmt.Fprintln(stdout, "demo: could not start")
		return o.Nasty.code("dies-at-start")
	}
	return a.terminal(ctx, stdin, stdout)
}

// terminal puts the terminal into raw mode for the time of the run.
func (a *agent) terminal(ctx context.Context, stdin, stdout *os.File) int {
	old, err := term.MakeRaw(int(stdin.Fd()))
	if err != nil {
		fmt.Fprintf(stdout, "st %s: the built-in agent needs a terminal: %v\n", Verb, err)
		return 1
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGWINCH)
	defer signal.Stop(signals)
	a.size = func() (int, int, error) { return term.GetSize(int(stdout.Fd())) }
	a.screen = &screen{out: stdout}
	code := a.run(ctx, stdin, signals)
	// After a hang-up there is no terminal left to be restored.
	if err := errors.Join(a.screen.leave(), term.Restore(int(stdin.Fd()), old)); err == nil && a.mounted {
		fmt.Fprintf(stdout, "Resume this session with: st %s --resume %s\n", Verb, a.conversation)
	}
	return code
}

func newAgent(o options, env []string) (*agent, error) {
	s, err := readSettings(o.Settings)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	a := &agent{
		o: o, settings: s, dir: dir, env: env, source: "startup",
		calls: make(chan func()), over: make(chan struct{}), worked: map[string]*recipe{}, running: map[string]string{},
	}
	if a.folder, err = transcriptFolder(o, env); err != nil {
		return nil, err
	}
	return a, a.openConversation()
}

// openConversation takes up the conversation that is asked for, or a new one.
func (a *agent) openConversation() error {
	id := a.o.Resume
	if id == "" {
		id = a.o.Session
	}
	if id == "" {
		a.renew(uuid.NewString())
		return nil
	}
	if uuid.Validate(id) != nil {
		return fmt.Errorf("%q is no session ID", id)
	}
	a.renew(id)
	text, err := os.ReadFile(a.transcript)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if a.o.Session != "" && err == nil {
		return fmt.Errorf("session id %s is already in use", id)
	}
	if a.o.Resume != "" {
		if err != nil {
			return fmt.Errorf("no conversation found with session id %s", id)
		}
		a.source = "resume"
		a.recall(text)
	}
	return nil
}

// renew makes id the conversation.
func (a *agent) renew(id string) {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	a.conversation, a.transcript, a.promptID, a.leaf = id, filepath.Join(a.folder, id+".jsonl"), "", ""
	a.register()
}

// register says which conversation this process runs, where it has no settings by which hooks would tell.
func (a *agent) register() {
	path := a.record()
	if path == "" {
		return
	}
	raw, err := json.Marshal(map[string]any{"pid": os.Getpid(), "sessionId": a.conversation, "cwd": a.dir, "transcript_path": a.transcript})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		a.notice("session: %v", err)
	}
}

func (a *agent) unregister() {
	if path := a.record(); path != "" {
		os.Remove(path) //nolint:errcheck // whoever reads it looks at the process
	}
}

// record is the file in which this process says which conversation it runs, "" for none.
func (a *agent) record() string {
	if a.o.Settings != "" || a.o.Folder != "" {
		return ""
	}
	dir, err := Sessions(a.env)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, strconv.Itoa(os.Getpid())+".json")
}

// transcriptFolder is that which is named; else where the conversation that is taken up has its log; else beside the
// settings; without any, in the user's state folder.
func transcriptFolder(o options, env []string) (string, error) {
	if o.Folder != "" {
		return filepath.Abs(o.Folder)
	}
	if home := lookup(env, "ST_HOME"); home != "" && o.Resume != "" {
		if _, err := os.Stat(filepath.Join(Folder(home), o.Resume+".jsonl")); err == nil {
			return Folder(home), nil
		}
	}
	if o.Settings != "" {
		return filepath.Abs(filepath.Dir(o.Settings))
	}
	return stateFolder(env)
}

// readInput sends what each read gives; the reads themselves matter, since a burst is taken for a paste.
func readInput(in io.Reader, chunks chan<- []byte) {
	defer close(chunks)
	buf := make([]byte, 1<<16)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			chunks <- append([]byte(nil), buf[:n]...)
		}
		if err != nil {
			return
		}
	}
}

package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
)

// Protocol is the number of what is spoken on the socket. A client with a greater one asks a running daemon
// to hand over; it is raised when an older daemon could misread a newer client.
const Protocol = 2

// protocol is Protocol, but in tests.
var protocol = failpoint.Number("protocol", Protocol)

// lineMax is the longest line on the socket, in bytes. A task's text has at most 1 MiB and JSON doubles its
// line ends and quotes.
const lineMax = 4 << 20

// Operations.
const (
	opDo    = "do"
	opGet   = "get"
	opWatch = "watch"
)

// What the server answers itself.
const (
	viewHello = "daemon-hello"
	doStop    = "daemon-stop"
)

// Request is one line to the daemon, on the socket or in a spool file.
type Request struct {
	V       int             `json:"v"`
	Op      string          `json:"op"`                // do, get, watch
	Request string          `json:"request,omitempty"` // id under which a do happens once only
	Name    string          `json:"name"`              // of the input or the view
	From    From            `json:"from"`
	Body    json.RawMessage `json:"body,omitempty"`
}

// From is what a caller says of itself. On the socket the system tells which process it is; what stands here
// besides is a claim.
type From struct {
	TMUX   string `json:"tmux,omitempty"`        // $TMUX
	Pane   string `json:"pane,omitempty"`        // $TMUX_PANE
	Tmpdir string `json:"tmux_tmpdir,omitempty"` // $TMUX_TMPDIR
	Nonce  string `json:"nonce,omitempty"`       // $ST_AGENT
	Dir    string `json:"dir,omitempty"`         // its folder
	As     string `json:"as,omitempty"`          // --as
	Run    string `json:"run,omitempty"`         // --run
	Thread string `json:"thread,omitempty"`      // the conversation it belongs to, where its agent says so

	Inside string `json:"inside,omitempty"` // the variable by which an agent has told this command whose it is

	// PID, Chain and Boot are in spool files only: the writer and its ancestry, nearest first, as they were when it wrote, and
	// the boot of the computer in which these processes ran.
	PID   int         `json:"pid,omitempty"`
	Chain []orch.Link `json:"chain,omitempty"`
	Boot  string      `json:"boot,omitempty"`
}

// FromEnv reads a From out of an environment.
func FromEnv(getenv func(string) string) From {
	from := From{
		TMUX: getenv("TMUX"), Pane: getenv("TMUX_PANE"), Tmpdir: getenv("TMUX_TMPDIR"), Nonce: getenv("ST_AGENT"),
		Thread: hooks.Thread(getenv), Inside: hooks.Inside(os.Environ()),
	}
	if dir, err := os.Getwd(); err == nil {
		from.Dir = dir // a folder that was removed has no path; then there is none to tell
	}
	return from
}

// answerLine is one line from the daemon.
type answerLine struct {
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error *orch.Error     `json:"error,omitempty"`
	End   bool            `json:"end,omitempty"` // the last line of a watch that ended by itself
}

// Hello is what a daemon says of itself.
type Hello struct {
	Protocol int `json:"protocol"`
	PID      int `json:"pid"`
}

// Stop asks a daemon to end. ForProtocol, where it isn't 0, is the protocol of the client that wants to
// take over.
type Stop struct {
	ForProtocol int `json:"for_protocol,omitempty"`
}

var errLong = fmt.Errorf("a line of more than %d bytes", lineMax)

// readLine reads one line, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > lineMax {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// encodeLine makes the line of a request or an answer, with its end.
func encodeLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(line) >= lineMax {
		return nil, errLong
	}
	return append(line, '\n'), nil
}

// codeFailed stands for an error that is no refusal: the same request may go better later.
const codeFailed = "failed"

// codeUnreachable says that no daemon could be asked.
const codeUnreachable = "daemon_unreachable"

// asError makes a refusal of any error, so that it can stand on the wire.
func asError(err error) *orch.Error {
	var e *orch.Error
	if errors.As(err, &e) {
		return e
	}
	return &orch.Error{Code: codeFailed, Message: err.Error()}
}

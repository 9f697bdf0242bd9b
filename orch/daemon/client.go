package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/google/uuid"

	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc"
)

// answerTime is how long a daemon may take to say that it is there. One that was stopped by a signal takes
// connections and never answers.
var answerTime = 5 * time.Second

// ErrNone says that no daemon runs, in contrast to one that does not answer. Compare with errors.Is.
var ErrNone error = &orch.Error{Code: codeUnreachable, Message: "no daemon runs", Next: []string{"st up"}}

// Client speaks to the daemon of one home. It keeps no connection between calls and may be used by several
// goroutines.
type Client struct {
	home  string
	from  From
	start bool
}

// Dial makes a client of a daemon that runs: ErrNone where there is none, an *orch.Error with the code
// daemon_unreachable where it does not answer.
func Dial(ctx context.Context, home string, from From) (*Client, error) {
	return Connect(ctx, home, from, false)
}

// Connect makes a client, and with start also the daemon where none runs. A daemon that speaks an older
// protocol is asked to hand over first. Errors are *orch.Error: daemon_unreachable, store_locked,
// store_corrupt, store_read_only, home_refused.
func Connect(ctx context.Context, home string, from From, start bool) (*Client, error) {
	c := &Client{home: home, from: from, start: start}
	return c, c.ensure(ctx)
}

// ensure makes sure that a daemon of our protocol answers.
func (c *Client) ensure(ctx context.Context) error {
	if err := checkSocketDir(c.home); err != nil {
		return err
	}
	hello, err := c.Hello(ctx)
	switch {
	case sandboxed(err):
		return errSandboxed
	case (absent(err) || broken(err)) && c.start:
		return startDaemon(ctx, c)
	case err != nil:
		return unreachable(c.home, err)
	case hello.Protocol < protocol && c.start:
		return takeOver(ctx, c)
	case hello.Protocol < protocol:
		return older(hello)
	}
	return nil
}

// older refuses to speak to a daemon that may misread us.
func older(h Hello) *orch.Error {
	return &orch.Error{
		Code:    codeUnreachable,
		Message: fmt.Sprintf("the running daemon (pid %d) is older than this program", h.PID),
		Next:    []string{"st up"},
	}
}

// Home returns the home whose daemon this client speaks to.
func (c *Client) Home() string { return c.home }

// Hello asks the daemon who it is, within a bounded time.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var h Hello
	err := c.call(ctx, Request{Op: opGet, Name: viewHello}, &h)
	return h, err
}

// Do gives an input to the daemon and reads its answer into answer, which may be nil. Under one request id,
// a fresh uuid, it happens once however often it is sent: where the connection breaks it is sent again. It
// returns *orch.Error where it is refused.
func (c *Client) Do(ctx context.Context, request string, what orch.What, answer any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	err = c.insist(ctx, Request{Op: opDo, Request: request, Name: what.Type(), Body: body}, answer)
	failpoint.At("client.do.answered")
	return err
}

// Get asks for a view. args may be nil.
func (c *Client) Get(ctx context.Context, view string, args, out any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return c.insist(ctx, Request{Op: opGet, Name: view, Body: body}, out)
}

// Glance asks a running daemon for a view, once, without making sure of it first and without starting one: for who
// would rather have no answer than a late one. An older or newer daemon may refuse.
func Glance(ctx context.Context, home string, from From, view string, args, out any) error {
	if err := checkSocketDir(home); err != nil {
		return err
	}
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	c := &Client{home: home, from: from}
	return c.call(ctx, Request{Op: opGet, Name: view, Body: body}, out)
}

// insist sends a request again where the daemon went away while it was out. All that is sent may be sent
// twice: a do has its request id and a get changes nothing.
func (c *Client) insist(ctx context.Context, req Request, out any) error {
	const tries = 3
	var err error
	for range tries {
		err = c.call(ctx, req, out)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || !broken(err) && !absent(err) && !stopping(err) {
			break
		}
		if err := c.ensure(ctx); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	return unreachable(c.home, err)
}

// Watch reads a stream of changes and hands each to each until that says that it wants no more, until the
// daemon ends the stream (nil), or until ctx is done. Where the daemon goes away it returns an *orch.Error
// daemon_unreachable.
func (c *Client) Watch(ctx context.Context, view string, args any, each func(json.RawMessage) (more bool, err error)) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	conn, stop, err := c.send(ctx, Request{Op: opWatch, Name: view, Body: body})
	if err != nil {
		return unreachable(c.home, err)
	}
	defer stop()
	r := bufio.NewReader(conn)
	for {
		a, err := readAnswer(r)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case refused(err):
			return err
		case err != nil:
			return unreachable(c.home, err)
		case a.End:
			return nil
		}
		if more, err := each(a.Data); err != nil || !more {
			return err
		}
	}
}

// Stop asks the daemon to end and returns its process id as soon as it has agreed. AwaitStop waits until it
// is gone.
func (c *Client) Stop(ctx context.Context) (pid int, err error) { return c.stop(ctx, Stop{}) }

func (c *Client) stop(ctx context.Context, s Stop) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	var h Hello
	if err := c.call(ctx, Request{Op: opDo, Name: doStop, Body: body}, &h); err != nil {
		if refused(err) {
			return 0, err
		}
		return 0, unreachable(c.home, err)
	}
	return h.PID, nil
}

// Report gives an input that must not get lost to the daemon, which it does not start, and reads the daemon's answer
// into answer, which may be nil. Where that does not answer within the time given, or can't keep it, the input goes into
// the spool, unless it may be dropped (keep is false); answer stays as it is then.
// fs.ErrNotExist where there is no home: then nobody is interested. *orch.Error where it is refused.
func Report(within time.Duration, home, name string, from From, body any, keep bool, answer any) error {
	info, err := os.Stat(home)
	if err != nil {
		return err
	}
	if err := errors.Join(owned(info), checkSocketDir(home)); err != nil {
		return err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	c := &Client{home: home, from: from}
	req := Request{Op: opDo, Request: uuid.NewString(), Name: name, Body: raw}
	err = c.ask(time.Now().Add(within), req, answer)
	if err == nil || final(err) || !keep {
		return err
	}
	return Spool(home, req.Request, name, from, body)
}

// passing are the codes of answers that may be others later: a commit failed, or the daemon was stopping.
var passing = map[string]bool{
	codeFailed: true, codeUnreachable: true, "sandboxed": true, "store_read_only": true, "store_locked": true, "store_corrupt": true,
}

// final tells that asking again would give the same answer.
func final(err error) bool {
	var e *orch.Error
	return errors.As(err, &e) && !passing[e.Code]
}

// call sends one request and reads its one answer.
func (c *Client) call(ctx context.Context, req Request, out any) error {
	conn, stop, err := c.send(ctx, req)
	if err != nil {
		return err
	}
	defer stop()
	a, err := readAnswer(bufio.NewReader(conn))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return a.read(out)
}

// send dials and writes the request. The connection ends with ctx, and by stop.
func (c *Client) send(ctx context.Context, req Request) (net.Conn, func(), error) {
	req.V = protocol
	req.From = c.from
	line, err := encodeLine(req)
	if err != nil {
		return nil, nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", SocketPath(c.home))
	if err != nil {
		return nil, nil, err
	}
	release := context.AfterFunc(ctx, func() { conn.Close() })
	stop := func() {
		release()
		conn.Close()
	}
	failpoint.At("client.send.before")
	if _, err := conn.Write(line); err != nil {
		stop()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, nil, err
	}
	failpoint.At("client.sent")
	return conn, stop, nil
}

func readAnswer(r *bufio.Reader) (answerLine, error) {
	var a answerLine
	line, err := readLine(r)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("the daemon's answer can't be read: %w", err)
	}
	if !a.OK && a.Error == nil {
		return a, errors.New("the daemon's answer is neither yes nor no")
	}
	if !a.OK {
		return a, a.Error
	}
	return a, nil
}

// read reads what the daemon answered into out, which may be nil.
func (a answerLine) read(out any) error {
	if out == nil || len(a.Data) == 0 {
		return nil
	}
	return json.Unmarshal(a.Data, out)
}

// absent tells that no daemon listens: there is no socket, or one that a killed daemon has left.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// stopping tells that a daemon answered that it won't, since it ends or hands over.
func stopping(err error) bool {
	var e *orch.Error
	return errors.As(err, &e) && e.Code == codeUnreachable
}

// broken tells that a daemon was there and went away before it answered.
func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func refused(err error) bool {
	var e *orch.Error
	return errors.As(err, &e)
}

// unreachable says why no daemon could be asked.
func unreachable(home string, err error) error {
	var e *orch.Error
	if errors.As(err, &e) {
		return e
	}
	e = &orch.Error{Code: codeUnreachable, Next: []string{"st up"}}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case absent(err):
		return ErrNone
	case sandboxed(err):
		return errSandboxed
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.EAGAIN):
		e.Message = "the daemon does not answer"
		e.Next = []string{"st status"}
		if pid := lockHolder(home); pid != 0 {
			e.Message = fmt.Sprintf("the daemon (pid %d) does not answer", pid)
			if p, err := proc.Look(pid); err == nil && p.Stopped {
				e.Hint = "a signal has stopped it; this lets it go on:"
				e.Next = []string{fmt.Sprintf("kill -CONT %d", pid)}
			}
		}
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		e.Message = fmt.Sprintf("the daemon's socket may not be used from here: %v", err)
		e.Hint = "a sandbox may forbid it"
	default:
		e.Message = fmt.Sprintf("the daemon can't be reached: %v", err)
	}
	return e
}

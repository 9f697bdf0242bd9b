package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"st/orch"
	"st/orch/proc"
)

// Handlers are the daemon's three operations. Each call has its own goroutine; ctx ends when the client hangs
// up or the daemon stops. Errors that are *orch.Error go to the client as they are.
type Handlers struct {
	// Do gives an input to the loop. request is the id under which it happens once only.
	Do func(ctx context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error)
	// Get answers with a view.
	Get func(ctx context.Context, by orch.Caller, view string, args json.RawMessage) (any, error)
	// Watch sends a view's changes until it returns. send blocks while the client is slow, and fails when it
	// has read nothing for a while or is gone. What it returns is the last change, sent together with the end: most
	// who wait read nothing else. nil where everything was sent.
	Watch func(ctx context.Context, by orch.Caller, view string, args json.RawMessage, send func(any) error) (last json.RawMessage, err error)
}

// Server is the daemon's end of the socket.
type Server struct {
	Handlers Handlers
	Callers  *Callers
	Log      *log.Logger // ids only
	// Stop ends the daemon; it is called when a client asks for that.
	Stop func()

	listener *net.UnixListener
	open     sync.WaitGroup
}

// How long a client may be silent before its request is whole, and how long it may leave an answer unread.
const (
	requestTime = 10 * time.Second
	writeTime   = 10 * time.Second
	// graceTime is how long requests that are under way may take when the daemon stops.
	graceTime = 2 * time.Second
)

// Listen takes the socket of home. The caller holds the home's lock: a socket that stands there is a dead one.
func (s *Server) Listen(home string) error {
	if err := prepareSocketDir(home); err != nil {
		return err
	}
	path := SocketPath(home)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return homeFault(path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// The folder is 0700; the mode of the socket is a second door.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return err
	}
	s.listener = l
	return nil
}

// Serve answers until ctx is done, then takes the socket away and gives the requests that are under way a
// moment to end.
func (s *Server) Serve(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	release := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer release()
	for {
		conn, err := s.listener.AcceptUnix()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			break
		}
		if err != nil {
			if !s.pauseFor(ctx, err) {
				s.listener.Close()
				return err
			}
			continue
		}
		s.open.Go(func() { s.serve(ctx, work, conn) })
	}
	s.finish(cancel)
	return nil
}

// pauseFor waits out a lack of descriptors: clients that end give them back.
func (s *Server) pauseFor(ctx context.Context, err error) bool {
	if !outOfFiles(err) {
		return false
	}
	s.Log.Printf("socket: %v", err)
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
	return true
}

// finish waits for the requests that are under way, then cancels them.
func (s *Server) finish(cancel func()) {
	done := make(chan struct{})
	go func() {
		s.open.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(graceTime):
		cancel()
		<-done
	}
}

// serve answers one connection. Waits and watches end with stopping, work that was begun with work.
func (s *Server) serve(stopping, work context.Context, conn *net.UnixConn) {
	defer conn.Close()
	req, by, err := s.receive(stopping, conn)
	if err != nil {
		if !errors.Is(err, errHungUp) {
			s.reply(conn, nil, err)
		}
		return
	}
	parent := work
	if req.Op != opDo {
		parent = stopping
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	go hangUp(conn, cancel)
	err = s.answer(ctx, conn, by, req)
	if err == nil || stopping.Err() != nil && !refused(err) {
		return // a client that gets no answer asks the next daemon
	}
	s.reply(conn, nil, err)
}

var errHungUp = errors.New("the client hung up")

// receive reads the request and finds out who sent it.
func (s *Server) receive(ctx context.Context, conn *net.UnixConn) (Request, orch.Caller, error) {
	var req Request
	pid, uid, err := proc.Peer(conn)
	if err != nil {
		return req, orch.Caller{}, err
	}
	if uid != os.Getuid() {
		s.Log.Printf("socket: refused user %d, process %d", uid, pid)
		return req, orch.Caller{}, &orch.Error{Code: "refused", Message: fmt.Sprintf("this daemon serves user %d only", os.Getuid())}
	}
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return req, orch.Caller{}, errHungUp
	}
	release := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) }) // fails where it is closed: then nobody reads
	defer release()
	if req, err = readRequest(conn); err != nil {
		return req, orch.Caller{}, err
	}
	if builtIn(req) {
		return req, orch.Caller{}, nil
	}
	by, err := s.Callers.OnSocket(ctx, pid, req.From, req.Name == "hook")
	// A pid counts only while its process holds the other end: after that another may have it.
	if proc.HungUp(conn) {
		return req, by, errHungUp
	}
	return req, by, err
}

func readRequest(conn *net.UnixConn) (Request, error) {
	var req Request
	line, err := readLine(bufio.NewReaderSize(conn, 4096))
	if errors.Is(err, errLong) {
		return req, &orch.Error{Code: "bad_request", Message: err.Error()}
	}
	if err != nil {
		return req, errHungUp
	}
	if err := json.Unmarshal(line, &req); err != nil {
		return req, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("the request can't be read: %v", err)}
	}
	if req.V > protocol && !builtIn(req) {
		return req, older(Hello{PID: os.Getpid()})
	}
	return req, nil
}

// builtIn tells what is answered without the loop and means the same in every protocol.
func builtIn(req Request) bool {
	return req.Op == opGet && req.Name == viewHello || req.Op == opDo && req.Name == doStop
}

// hangUp cancels when the client closes its end. Whatever it sends besides its one line is read and dropped.
func hangUp(conn *net.UnixConn, cancel func()) {
	defer cancel()
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	var rest [256]byte
	for {
		if _, err := conn.Read(rest[:]); err != nil {
			return
		}
	}
}

// answer carries out a request and sends what it gave. An error is still to be sent.
func (s *Server) answer(ctx context.Context, conn *net.UnixConn, by orch.Caller, req Request) error {
	var data any
	var err error
	switch {
	case builtIn(req):
		s.answerBuiltIn(conn, req)
		return nil
	case req.Op == opDo:
		data, err = s.Handlers.Do(ctx, by, req.Request, req.Name, req.Body)
	case req.Op == opGet:
		data, err = s.Handlers.Get(ctx, by, req.Name, req.Body)
	case req.Op == opWatch:
		return s.watch(ctx, conn, by, req)
	default:
		err = &orch.Error{Code: "bad_request", Message: fmt.Sprintf("no operation is called %q", req.Op)}
	}
	if err == nil {
		s.reply(conn, data, nil)
	}
	return err
}

func (s *Server) watch(ctx context.Context, conn *net.UnixConn, by orch.Caller, req Request) error {
	last, err := s.Handlers.Watch(ctx, by, req.Name, req.Body, func(v any) error { return s.write(conn, v) })
	if err != nil {
		return err
	}
	// A daemon that stops has not told all: whoever reads an end would take what it has for the last word.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var lines []byte
	if last != nil {
		if lines, err = goodLine(last); err != nil {
			return err
		}
	}
	s.logUnread(writeLine(conn, append(lines, endLine...)))
	return nil
}

func (s *Server) answerBuiltIn(conn *net.UnixConn, req Request) {
	hello := Hello{Protocol: protocol, PID: os.Getpid()}
	if req.Name == viewHello {
		s.reply(conn, hello, nil)
		return
	}
	var stop Stop
	if err := json.Unmarshal(req.Body, &stop); err != nil {
		s.reply(conn, nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("%s: %v", doStop, err)})
		return
	}
	if stop.ForProtocol != 0 && stop.ForProtocol <= protocol {
		s.reply(conn, nil, &orch.Error{
			Code:    "refused",
			Message: fmt.Sprintf("this daemon speaks protocol %d and hands over to newer ones only", protocol),
		})
		return
	}
	s.reply(conn, hello, nil)
	s.Stop()
}

// reply sends the one answer of a do or a get, or a refusal.
func (s *Server) reply(conn *net.UnixConn, data any, err error) {
	if err == nil {
		err = s.write(conn, data)
		if !errors.Is(err, errLong) {
			s.logUnread(err)
			return
		}
	}
	line, err := encodeLine(answerLine{Error: asError(err)})
	if err == nil {
		err = writeLine(conn, line)
	}
	s.logUnread(err)
}

// logUnread notes an answer that nobody took. A client that is gone is no fault of ours and not noted.
func (s *Server) logUnread(err error) {
	if err != nil && !broken(err) && !errors.Is(err, net.ErrClosed) {
		s.Log.Printf("socket: an answer was not taken: %v", err)
	}
}

func (s *Server) write(conn *net.UnixConn, v any) error {
	data, encoded := v.(json.RawMessage)
	if !encoded && v != nil {
		var err error
		if data, err = json.Marshal(v); err != nil {
			return err
		}
	}
	line, err := goodLine(data)
	if err != nil {
		return err
	}
	return writeLine(conn, line)
}

// goodLine is the line of an answer with that data, which is JSON as Marshal makes it. It is not encoded again: hundreds
// may wait for the same change.
func goodLine(data json.RawMessage) ([]byte, error) {
	line := append(make([]byte, 0, len(data)+20+len(endLine)), `{"ok":true`...)
	if len(data) > 0 {
		line = append(append(line, `,"data":`...), data...)
	}
	if len(line) >= lineMax-2 {
		return nil, errLong
	}
	return append(line, "}\n"...), nil
}

// endLine ends a watch that has told all.
const endLine = `{"ok":true,"end":true}` + "\n"

func writeLine(conn *net.UnixConn, line []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err := conn.Write(line)
	return err
}

//go:build linux || darwin

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"st/orch"
)

// serveHere runs a server in this process.
func serveHere(t *testing.T, h Handlers) (home string, stop func()) {
	t.Helper()
	home, _ = testHome(t)
	must(t, Prepare(home))
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Handlers: h, Callers: &Callers{}, Log: log.New(io.Discard, "", 0), Stop: cancel}
	must(t, s.Listen(home))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		must(t, <-done)
	})
	t.Cleanup(stop)
	return home, stop
}

func dial(t *testing.T, home string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), home, FromEnv(os.Getenv))
	must(t, err)
	return c
}

func TestAnswersAndRefusals(t *testing.T) {
	type echo struct{ Request, Name, Body, Dir string }
	home, _ := serveHere(t, Handlers{
		Do: func(_ context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
			return echo{request, name, string(body), by.Dir}, nil
		},
		Get: func(_ context.Context, _ orch.Caller, view string, _ json.RawMessage) (any, error) {
			switch view {
			case "huge":
				return strings.Repeat("x", lineMax), nil
			case "plain":
				return nil, errors.New("a plain error")
			}
			return nil, &orch.Error{Code: "worker_not_found", Message: "no", Next: []string{"st worker ls"}}
		},
	})
	c := dial(t, home)
	var got echo
	must(t, c.Do(t.Context(), "id", orch.RunStart{Objective: "o"}, &got))
	dir, err := os.Getwd()
	must(t, err)
	if got.Request != "id" || got.Name != "run-start" || !strings.Contains(got.Body, `"objective":"o"`) || got.Dir != dir {
		t.Errorf("the handler saw %+v", got)
	}
	var e *orch.Error
	if err := c.Get(t.Context(), "none", nil, nil); !errors.As(err, &e) || e.Code != "worker_not_found" || len(e.Next) != 1 {
		t.Errorf("a refusal arrives as %#v", err)
	}
	if err := c.Get(t.Context(), "plain", nil, nil); code(err) != codeFailed || err.Error() != "a plain error" {
		t.Errorf("an error arrives as %v", err)
	}
	if err := c.Get(t.Context(), "huge", nil, nil); code(err) != codeFailed {
		t.Errorf("an answer that is too long: %v", err)
	}
}

func TestCallerIsThisProcess(t *testing.T) {
	home, _ := serveHere(t, testHandlers(""))
	var by orch.Caller
	must(t, dial(t, home).Get(t.Context(), "caller", nil, &by))
	if len(by.Chain) < 2 || by.Chain[0].PID != os.Getpid() || by.Chain[1].PID != os.Getppid() || by.Path != "socket" {
		t.Errorf("caller: %+v", by)
	}
}

// raw sends bytes as they are and returns the answer's code, "" where there is none.
func raw(t *testing.T, home, text string) string {
	t.Helper()
	conn, err := net.Dial("unix", SocketPath(home))
	must(t, err)
	defer conn.Close()
	go io.WriteString(conn, text) // the server may hang up in the middle
	_, err = readAnswer(bufio.NewReader(conn))
	return code(err)
}

func TestBadRequests(t *testing.T) {
	home, _ := serveHere(t, testHandlers(""))
	for what, text := range map[string]string{
		"garbage":      "not json\n",
		"no operation": `{"v":1,"op":"dance","name":"x"}` + "\n",
		"too long":     strings.Repeat("y", lineMax+10) + "\n",
		"a stop":       `{"v":1,"op":"do","name":"daemon-stop","body":7}` + "\n",
	} {
		if got := raw(t, home, text); got != "bad_request" {
			t.Errorf("%s: got %q, want bad_request", what, got)
		}
	}
	if got := raw(t, home, `{"v":99,"op":"get","name":"x"}`+"\n"); got != codeUnreachable {
		t.Errorf("a newer client: got %q, want %s", got, codeUnreachable)
	}
}

func TestHangingUpCancels(t *testing.T) {
	inside, ended := make(chan bool), make(chan bool)
	home, _ := serveHere(t, Handlers{
		Get: func(ctx context.Context, _ orch.Caller, _ string, _ json.RawMessage) (any, error) {
			close(inside)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		},
	})
	c := dial(t, home)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-inside
		cancel()
	}()
	if err := c.Get(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	<-ended
}

func TestSlowClientsHoldNobodyUp(t *testing.T) {
	flood := make(chan bool)
	home, _ := serveHere(t, Handlers{
		Watch: func(ctx context.Context, _ orch.Caller, _ string, _ json.RawMessage, send func(any) error) (json.RawMessage, error) {
			line := strings.Repeat("z", 1<<20)
			close(flood)
			for ctx.Err() == nil {
				if err := send(line); err != nil {
					return nil, err
				}
			}
			return nil, ctx.Err()
		},
		Get: func(context.Context, orch.Caller, string, json.RawMessage) (any, error) { return "ok", nil },
	})
	deaf, err := net.Dial("unix", SocketPath(home))
	must(t, err)
	defer deaf.Close()
	_, err = io.WriteString(deaf, `{"v":1,"op":"watch","name":"x"}`+"\n")
	must(t, err)
	silent, err := net.Dial("unix", SocketPath(home))
	must(t, err)
	defer silent.Close()
	_, err = io.WriteString(silent, `{"v":1,`)
	must(t, err)
	<-flood
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var out string
	if err := dial(t, home).Get(ctx, "x", nil, &out); err != nil || out != "ok" {
		t.Errorf("beside a deaf and a silent client: %q, %v", out, err)
	}
}

func TestWatchEnds(t *testing.T) {
	home, stop := serveHere(t, Handlers{
		Watch: func(ctx context.Context, _ orch.Caller, view string, _ json.RawMessage, send func(any) error) (json.RawMessage, error) {
			for i := range 2 {
				if err := send(i); err != nil {
					return nil, err
				}
			}
			if view == "short" {
				return json.RawMessage("2"), nil
			}
			<-ctx.Done()
			return nil, nil // an end that the daemon's own end brought about is none of the stream
		},
	})
	c := dial(t, home)
	count := 0
	each := func(json.RawMessage) (bool, error) { count++; return true, nil }
	if err := c.Watch(t.Context(), "short", nil, each); err != nil || count != 3 {
		t.Errorf("a stream that ends: %d lines, %v", count, err)
	}
	two := 0
	err := c.Watch(t.Context(), "long", nil, func(json.RawMessage) (bool, error) { two++; return two < 2, nil })
	if err != nil || two != 2 {
		t.Errorf("a reader that has enough: %d lines, %v", two, err)
	}
	count = 0
	err = c.Watch(t.Context(), "long", nil, func(json.RawMessage) (bool, error) {
		if count++; count == 2 {
			go stop()
		}
		return true, nil
	})
	if code(err) != codeUnreachable {
		t.Errorf("a daemon that stops: %v", err)
	}
}

func TestStopLetsWorkEnd(t *testing.T) {
	began, goOn := make(chan bool), make(chan bool)
	home, stop := serveHere(t, Handlers{
		Do: func(ctx context.Context, _ orch.Caller, _, _ string, _ json.RawMessage) (any, error) {
			close(began)
			<-goOn
			return "kept", ctx.Err()
		},
	})
	c := dial(t, home)
	got := make(chan string, 1)
	go func() {
		var out string
		if err := c.Do(context.Background(), "id", orch.RunEnd{}, &out); err != nil {
			out = err.Error()
		}
		got <- out
	}()
	<-began
	var over atomic.Bool
	go func() { stop(); over.Store(true) }()
	until(t, "the socket is gone", func() bool { return absentNow(t, home) })
	if over.Load() {
		t.Error("it stopped while a request was under way")
	}
	close(goOn)
	if out := <-got; out != "kept" {
		t.Errorf("the client got %q", out)
	}
	until(t, "it has stopped", over.Load)
}

// TestGoodLine: the lines that are put together by hand read as those that are encoded.
func TestGoodLine(t *testing.T) {
	for _, want := range []answerLine{
		{OK: true}, {OK: true, End: true}, {OK: true, Data: json.RawMessage(`{"a":"\u003c\n"}`)}, {OK: true, Data: json.RawMessage(`[]`)},
	} {
		line, err := goodLine(want.Data)
		if want.End {
			line = []byte(endLine)
		}
		var got answerLine
		if err == nil {
			err = json.Unmarshal(line, &got)
		}
		if err != nil || line[len(line)-1] != '\n' || !reflect.DeepEqual(got, want) {
			t.Errorf("%q reads as %+v, not %+v (%v)", line, got, want, err)
		}
	}
	if _, err := goodLine(make(json.RawMessage, lineMax)); !errors.Is(err, errLong) {
		t.Errorf("a line that is too long: %v", err)
	}
}

//go:build linux || darwin

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// wire stands between an agent and the scripted model and sees when a request is open.
type wire struct {
	*httptest.Server
	mu   sync.Mutex
	life *life
	now  traffic
	main int             // requests of the agent itself so far
	subs map[string]bool // subagents that have asked and not had their last reply yet
}

func newWire(model string) *wire {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: model})
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // gone before it had asked
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		ask := classify(r, body)
		reply := &reply{ResponseWriter: rw}
		l := w.begin(ask)
		defer func() { w.finish(l, ask, reply.final()) }() // the proxy panics where the agent goes away
		proxy.ServeHTTP(reply, r)
	}))
	return w
}

// reply is what the model answers, on its way to the agent.
type reply struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (r *reply) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *reply) Write(b []byte) (int, error) {
	r.text.Write(b)
	return r.ResponseWriter.Write(b)
}

func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// final reports whether the reply came to its end and called no tool.
func (r *reply) final() bool {
	text := r.text.String()
	ended := strings.Contains(text, "message_stop") || strings.Contains(text, "response.completed")
	return ended && !strings.Contains(text, `"type":"tool_use"`) && !strings.Contains(text, `"type":"function_call"`)
}

// follow makes what comes from now on that of another process.
func (w *wire) follow(l *life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life, w.now, w.subs = l, traffic{}, map[string]bool{}
	at := time.Now()
	l.wire.set(at, at, w.now)
}

// begin notes a request and returns whose it is.
func (w *wire) begin(a ask) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life == nil || a.kind == "" {
		return nil
	}
	switch a.kind {
	case "sub":
		w.subs[a.sub] = true
	case "compact":
		w.now.compact++
	case "main":
		w.main++
		w.now.main++
		w.now.asked, w.now.final = true, false
	}
	w.note()
	return w.life
}

// finish notes the end of a request.
func (w *wire) finish(l *life, a ask, final bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l == nil || l != w.life {
		return
	}
	switch a.kind {
	case "sub":
		if final {
			delete(w.subs, a.sub)
		}
	case "compact":
		w.now.compact--
		w.now.final = true
	case "main":
		w.now.main--
		w.now.final = final
	}
	if final && a.kind == "main" {
		l.end(time.Now())
	}
	w.note()
}

func (w *wire) note() {
	at := time.Now()
	w.life.act(at)
	w.life.wire.set(at, at, w.now)
}

// asked is how often the agent itself has asked its model.
func (w *wire) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.main
}

// children is how many subagents are at work.
func (w *wire) children() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.subs)
}

// compaction are the words by which the agents ask for a summary of their conversation.
var compaction = []string{"create a detailed summary of", "CONTEXT CHECKPOINT COMPACTION", "Respond with TEXT ONLY. Do NOT call any tools"}

// ask is one request: main, sub or compact; "" for one that says nothing of a turn (titles, probes).
type ask struct{ kind, sub string }

func classify(r *http.Request, body []byte) ask {
	var asked struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
		Input    []json.RawMessage `json:"input"`
		Text     struct {
			Format struct{ Type string } `json:"format"`
		} `json:"text"`
	}
	posts := strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "/responses")
	if r.Method != http.MethodPost || !posts || json.Unmarshal(body, &asked) != nil {
		return ask{}
	}
	all := append(asked.Messages, asked.Input...)
	last := fmt.Sprintf("%s", all[max(0, len(all)-3):]) // the program adds words of its own behind it
	for _, words := range compaction {
		if strings.Contains(last, words) {
			return ask{kind: "compact"}
		}
	}
	if len(asked.Tools) == 0 || asked.Text.Format.Type == "json_schema" {
		return ask{}
	}
	if sub := r.Header.Get("X-Claude-Code-Agent-Id"); sub != "" {
		return ask{"sub", sub}
	}
	var turn struct {
		Agent  string `json:"agent_name"`
		Thread string `json:"thread_id"`
	}
	if json.Unmarshal([]byte(r.Header.Get("X-Codex-Turn-Metadata")), &turn) == nil && turn.Agent != "/root" {
		return ask{"sub", turn.Thread}
	}
	return ask{kind: "main"}
}

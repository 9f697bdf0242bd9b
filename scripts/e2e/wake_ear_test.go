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
	"regexp"
	"strings"
	"sync"
	"time"
)

// ear stands between an agent and the scripted model and notes what the agent's conversation holds of st: what the
// model is asked is what the agent knows. Only a request that the model has answered counts: what is taken back
// before, with its prompt, is in no conversation.
type ear struct {
	*httptest.Server
	mu    sync.Mutex
	now   map[string]int // text: how often it stands in the conversation as it was last asked
	came  []text         // what has come into the conversation, in order
	open  map[string]int // requests by kind that the model has not answered
	asked map[string]int // requests by kind so far
}

func newEar(model string) *ear {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: model})
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	e := &ear{now: map[string]int{}, open: map[string]int{}, asked: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // gone before it had asked
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		reply := &reply{ResponseWriter: rw}
		kind := classify(r, body).kind
		e.begin(kind)
		defer func() { e.finish(kind, body, reply) }() // the proxy panics where the agent goes away
		proxy.ServeHTTP(reply, r)
	}))
	return e
}

func (e *ear) begin(kind string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[kind]++
	e.asked[kind]++
}

func (e *ear) finish(kind string, body []byte, r *reply) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[kind]--
	if kind != "main" || !r.whole() {
		return
	}
	now := spokenIn(body)
	for said, n := range now {
		for range n - e.now[said] {
			e.came = append(e.came, text{time.Now(), said})
		}
	}
	e.now = now
}

// text is what somebody or something beside the agent has said to the model.
type text struct {
	at   time.Time
	said string
}

// whole reports whether the reply came to its end.
func (r *reply) whole() bool {
	text := r.text.String()
	return strings.Contains(text, "message_stop") || strings.Contains(text, "response.completed")
}

// stLine is a line of st as an agent is given it, with its mark.
var stLine = regexp.MustCompile(`st: [^\n]*?\[st-o\d+\]`)

// spokenIn counts what an agent's model is told beside what the agent itself and its tools have said.
func spokenIn(body []byte) map[string]int {
	var asked struct {
		Messages, Input []struct {
			Type, Role string
			Content    json.RawMessage
		}
	}
	found := map[string]int{}
	if json.Unmarshal(body, &asked) != nil {
		return found
	}
	for _, m := range append(asked.Messages, asked.Input...) {
		if m.Role == "assistant" || m.Type != "" && m.Type != "message" {
			continue
		}
		for _, said := range spoken(m.Content) {
			// Claude says what a hook has answered twice, one after the other: as feedback and as an error.
			if !strings.HasPrefix(said, "Stop hook blocking error") {
				found[said]++
			}
		}
	}
	return found
}

// spoken are the texts of a message, without the results of tools.
func spoken(content json.RawMessage) (list []string) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(content, &parts) // a message of another shape says nothing of ours
	for _, p := range parts {
		if p.Type != "tool_result" {
			list = append(list, p.Text)
		}
	}
	return list
}

// news is one thing that a coordinator was told of a worker.
type news struct{ worker, what string }

func (n news) String() string { return n.worker + " " + n.what }

// newsIn reads a line of st: "st: w1, w2 finished; w3 asked for input (question). …".
func newsIn(line string) (list []news) {
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "st: "), ". ")
	for _, group := range strings.Split(text, "; ") {
		var ids []string
		rest := group
		for {
			id, after, _ := strings.Cut(rest, " ")
			ids = append(ids, strings.TrimSuffix(id, ","))
			rest = after
			if !strings.HasSuffix(id, ",") {
				break
			}
		}
		for _, id := range ids {
			list = append(list, news{id, rest})
		}
	}
	return list
}

// heard are the news that have come into the conversation, and how often.
func (e *ear) heard() map[news]int {
	all := map[news]int{}
	for line, n := range e.lines() {
		for _, what := range newsIn(line) {
			all[what] += n
		}
	}
	return all
}

// lines are the lines of st that have come into the conversation, and how often.
func (e *ear) lines() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string]int{}
	for _, t := range e.came {
		for _, line := range stLine.FindAllString(t.said, -1) {
			all[line]++
		}
	}
	return all
}

// times is how often a text has come into the conversation.
func (e *ear) times(said string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.came {
		n += strings.Count(t.said, said)
	}
	return n
}

// record is what has come into the conversation, for a failure.
func (e *ear) record() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all strings.Builder
	for _, t := range e.came {
		fmt.Fprintf(&all, "%s %.400q\n", t.at.UTC().Format("04:05.000"), t.said)
	}
	return all.String()
}

// quiet says that the model owes no answer.
func (e *ear) quiet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open["main"] == 0 && e.open["compact"] == 0
}

// requests is how often the agent has asked: main, or compact.
func (e *ear) requests(kind string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[kind]
}

//go:build linux || darwin

package daemon

import (
	"encoding/json"
	"io"
	"log"
	"strings"
	"testing"

	"github.com/google/uuid"

	"st/orch"
)

// TestUnheardHook: a hook that was answered with a line and comes again by file has not got it, and that is told once.
func TestUnheardHook(t *testing.T) {
	var seen []string
	r := run(t, t.TempDir(), func(l *Loop) {
		l.Step = func(_ orch.View, in orch.Input) (orch.Changes, []orch.Effect) {
			seen = append(seen, in.By.Path+" "+in.What.Type())
			if h, ok := in.What.(orch.Hook); ok && h.Event.Type == orch.TurnEnded {
				return orch.Changes{Answer: orch.HookAnswer{Line: "w5 finished [st-o17]"}}, nil
			}
			return orch.Changes{}, nil
		}
	})
	defer r.stop()
	d := &daemon{loop: r.Loop, log: log.New(io.Discard, "", 0)}
	for _, event := range []string{"Stop", "UserPromptSubmit"} {
		body, request := json.RawMessage(`{"kind":"claude","payload":{"event":"`+event+`","session_id":"s1"}}`), uuid.NewString()
		_, err := d.do(t.Context(), orch.Caller{Path: "socket"}, request, "hook", body)
		must(t, err)
		for range 2 {
			must(t, d.spooled(t.Context(), r.Now(), orch.Caller{Path: "spool"}, request, "hook", body))
		}
	}
	if got := strings.Join(seen, ", "); got != "socket hook, spool hook-unheard, socket hook" {
		t.Error(got)
	}
}

// TestHookIsToldOnce: whoever repeats a hook's request is told nothing, in the same daemon and in the next one.
func TestHookIsToldOnce(t *testing.T) {
	const line = "w5 finished [st-o17]"
	dir, request := t.TempDir(), uuid.NewString()
	body := json.RawMessage(`{"kind":"claude","payload":{"event":"Stop","session_id":"s1"}}`)
	tell := func() any {
		r := run(t, dir, func(l *Loop) {
			l.Step = func(_ orch.View, in orch.Input) (orch.Changes, []orch.Effect) {
				return orch.Changes{Answer: orch.HookAnswer{Line: line}}, nil
			}
		})
		defer r.stop()
		d := &daemon{loop: r.Loop, log: log.New(io.Discard, "", 0)}
		first, err := d.hook(t.Context(), orch.Input{At: r.Now(), Request: request}, body)
		must(t, err)
		second, err := d.hook(t.Context(), orch.Input{At: r.Now(), Request: request}, body)
		must(t, err)
		if second != nil {
			t.Errorf("again: %v", second)
		}
		return first
	}
	if a, ok := tell().(orch.HookAnswer); !ok || a.Line != line {
		t.Errorf("the first time: %+v", a)
	}
	if again := tell(); again != nil {
		t.Errorf("after a restart: %v", again)
	}
}

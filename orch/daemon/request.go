package daemon

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"st/orch"
	"st/orch/journal"
)

// contentOf is what decides whether a request that comes again asks for the same: the order as its caller gave it,
// and the run that he named.
func contentOf(by orch.Caller, what any) ([]byte, error) {
	return json.Marshal(struct {
		Run  string `json:"run,omitempty"`
		What any    `json:"what"`
	}{by.Run, what})
}

// veilRounds make that a secret which somebody could guess is not found by trying, in a store that has been read by
// whom it was not meant for. They take some ten milliseconds.
const veilRounds = 100_000

// Veil stands for secrets in what decides whether a request is the same one: nothing can be read from it, and under
// another request id it is another one.
func Veil(request string, secrets []string) (string, error) {
	if len(secrets) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(secrets) // tells where each ends
	if err != nil {
		return "", err
	}
	sum, err := pbkdf2.Key(sha256.New, string(raw), []byte(request), veilRounds, sha256.Size)
	return hex.EncodeToString(sum), err
}

// request shows a request that was taken.
func (d *daemon) request(by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.RequestArgs](raw)
	if err != nil {
		return nil, err
	}
	if refusal := orch.CheckRequest(args.Request); refusal != nil {
		return nil, refusal
	}
	r, ok, err := d.journal.Receipt(args.Request)
	switch {
	case err != nil:
		return nil, doError(&StoreError{Err: err})
	case !ok || r.Input != "" && !orch.IsOrder(r.Input):
		return nil, noRequest(args.Request)
	}
	info := orch.RequestInfo{ID: r.Request, Input: r.Input, At: r.At.UTC(), By: r.By}
	d.loop.Read(func(v orch.View) { info.Worker, info.Answer = orch.RequestOf(v, r.Input, r.Answer) })
	return info, nil
}

func noRequest(id string) *orch.Error {
	return &orch.Error{
		Code: "request_not_found",
		Message: fmt.Sprintf("request %q: nothing is known of it: it was never taken, it was refused and has changed nothing, or it is forgotten, as all are %s",
			id, Remembered()),
		Hint: "if it is not older than that it is safe to send it now: add to its verb",
		Next: []string{"--request " + shellWord(id)},
	}
}

// Remembered says how long requests are.
func Remembered() string {
	return fmt.Sprintf("after %d days, and all but the newest %d", journal.RequestAge/(24*time.Hour), journal.RequestCount)
}

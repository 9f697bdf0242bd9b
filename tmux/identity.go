package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Identity is one life of a server. Pane ids begin again at %0 when a server starts anew on the same socket, so
// an id is worth something only together with this.
type Identity struct {
	Socket string `json:"socket"` // as the server names it, links resolved
	PID    int64  `json:"pid"`    // of the server
	Start  int64  `json:"start"`  // Unix seconds
}

// IsZero reports whether no server is meant.
func (i Identity) IsZero() bool { return i == Identity{} }

// String is "socket|pid|start", what ParseIdentity reads.
func (i Identity) String() string {
	return i.Socket + "|" + strconv.FormatInt(i.PID, 10) + "|" + strconv.FormatInt(i.Start, 10)
}

// ParseIdentity reads what String wrote, and refuses anything else. The path may hold bars.
func ParseIdentity(s string) (Identity, error) {
	last := strings.LastIndexByte(s, '|')
	middle := strings.LastIndexByte(s[:max(last, 0)], '|')
	if middle <= 0 {
		return Identity{}, fmt.Errorf("%q names no tmux server", s)
	}
	pid, err := strconv.ParseInt(s[middle+1:last], 10, 64)
	if err != nil {
		return Identity{}, fmt.Errorf("%q names no tmux server", s)
	}
	start, err := strconv.ParseInt(s[last+1:], 10, 64)
	if err != nil {
		return Identity{}, fmt.Errorf("%q names no tmux server", s)
	}
	return Identity{Socket: s[:middle], PID: pid, Start: start}, nil
}

const identityFormat = "#{socket_path}|#{pid}|#{start_time}"

// Identity asks which server answers at the socket. ErrNoServer where none does.
func (t *Tmux) Identity(ctx context.Context) (Identity, error) {
	out, err := t.ask(ctx, Cmd{"display-message", "-p", identityFormat})
	if err != nil {
		return Identity{}, err
	}
	return ParseIdentity(strings.TrimSuffix(out, "\n"))
}

// check is a condition for if-shell -F: all fields have the values wanted, compared as one joined string. One
// flat comparison, because tmux 3.2 gives up on formats nested more than ten deep.
type check struct{ fields, wants []string }

func (c *check) is(field, want string) {
	c.fields = append(c.fields, "#{"+field+"}")
	c.wants = append(c.wants, operand(want))
}

func (c *check) isInt(field string, want int) { c.is(field, strconv.Itoa(want)) }

func (c *check) server(want Identity) {
	if want.IsZero() {
		return
	}
	c.is("pid", strconv.FormatInt(want.PID, 10))
	c.is("start_time", strconv.FormatInt(want.Start, 10))
	c.is("socket_path", want.Socket)
}

func (c *check) String() string {
	return "#{==:" + strings.Join(c.fields, "|") + "," + strings.Join(c.wants, "|") + "}"
}

// ours is a check that the target is this pane of this server with this tag, "" for any.
func ours(id string, want Identity, tag string) *check {
	c := new(check)
	c.is("pane_id", id)
	c.server(want)
	if tag != "" {
		c.is(TagOption, tag)
	}
	return c
}

const (
	did  = "st-did"
	held = "st-held"
)

// guarded is an act and its condition in one server step: nothing can come between. The target may be missing;
// the condition then compares with an empty or another pane's id and fails.
func guarded(id string, c *check, act string) Cmd {
	cmd := Cmd{"if-shell", "-F"}
	if id != "" {
		cmd = append(cmd, "-t", id)
	}
	// The word is printed first: an act may end the server.
	return append(cmd, c.String(), "display-message -p "+did+" ; "+act, "display-message -p "+held)
}

// was reports whether a guarded act was done. A server that ends by it breaks the call off after the word.
func was(out string, err error) (bool, error) {
	if strings.Contains(out, did+"\n") {
		return true, nil
	}
	return false, err
}

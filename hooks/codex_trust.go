package hooks

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/tailscale/hujson"
)

// codexConfig is the part of config.toml in which Codex keeps which hooks a person trusts: one table for each,
// named by the hooks file, the event and the place, as Codex itself writes it.
type codexConfig struct {
	tomlFile
	missing bool           // none was there before us
	hooks   string         // path of the hooks file
	all     map[string]any // as it was read
}

func openCodexConfig(path string, text []byte, hooks string) (*codexConfig, error) {
	c := &codexConfig{tomlFile: tomlFile{path, text}, missing: text == nil, hooks: hooks}
	var err error
	c.all, err = c.read()
	return c, err
}

// written is the file's new text, nil where none was and none is needed.
func (c *codexConfig) written() []byte {
	if len(c.text) == 0 && c.missing {
		return nil
	}
	return c.text
}

// codexSnake is an event's name in the keys.
func codexSnake(event string) string {
	for _, e := range codexEvents {
		if e.name == event {
			return e.snake
		}
	}
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

func (c *codexConfig) key(p hookPlace) string {
	return c.hooks + ":" + codexSnake(p.event) + ":" + p.String()
}

func codexHead(key string) string { return "[hooks.state." + tomlQuoted(key) + "]" }

// state is what stands in the file about the hook of a key; nil for nothing.
func state(all map[string]any, key string) map[string]any {
	hooks, _ := all["hooks"].(map[string]any)
	states, _ := hooks["state"].(map[string]any)
	s, _ := states[key].(map[string]any)
	return s
}

// trusts tells whether Codex runs a call of ours without asking.
func (c *codexConfig) trusts(call *hookCall) bool {
	return !call.matched && c.knows(call) && state(c.all, c.key(call.hookPlace))["enabled"] != false
}

// knows tells whether the hash of a call stands in the file.
func (c *codexConfig) knows(call *hookCall) bool {
	hash, err := call.trustHash()
	return err == nil && state(c.all, c.key(call.hookPlace))["trusted_hash"] == hash
}

func (c *hookCall) trustHash() (string, error) {
	return codexTrust(codexEvent{c.event, codexSnake(c.event), c.timeout}, c.command)
}

// moved takes the trust of calls along that stand at another place now, and removes that of calls that are gone.
func (c *codexConfig) moved(was map[*hujson.Object]hookPlace, after []*hookCall) error {
	now := places(after)
	renamed, gone := map[string]string{}, map[string]bool{}
	for object, place := range was {
		to, there := now[object]
		switch {
		case !there:
			gone[c.key(place)] = true
		case to != place:
			renamed[c.key(place)] = c.key(to)
		}
	}
	if err := c.drop(gone); err != nil {
		return err
	}
	return c.rename(renamed)
}

// drop removes the tables of keys, the last one first. A file that we made holds nothing then and goes; one that
// was there without a byte has no line break at its end.
func (c *codexConfig) drop(keys map[string]bool) error {
	at := map[int]string{}
	for key := range keys {
		if state(c.all, key) == nil {
			continue
		}
		t, ok := c.find(codexHead(key))
		if !ok {
			return c.byHand(key)
		}
		at[t.start] = key
		delete(c.states(), key)
	}
	if len(at) == 0 {
		return nil
	}
	c.missing = bytes.HasSuffix(c.text, []byte("\n"))
	for _, start := range slices.Backward(slices.Sorted(maps.Keys(at))) {
		if t, ok := c.find(codexHead(at[start])); ok { // anew: the end of a text without a line break moves
			c.remove(t)
		}
	}
	return c.check()
}

// rename gives tables other keys, all at once: a key may be one's new name and another's old one.
func (c *codexConfig) rename(keys map[string]string) error {
	type change struct {
		table tomlTable
		to    string
	}
	var changes []change
	moved := map[string]any{}
	for from, to := range keys {
		s := state(c.all, from)
		if s == nil {
			continue
		}
		t, ok := c.find(codexHead(from))
		if !ok {
			return c.byHand(from)
		}
		changes = append(changes, change{t, to})
		moved[to] = s
		delete(c.states(), from)
	}
	if len(changes) == 0 {
		return nil
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].table.start > changes[j].table.start })
	for _, ch := range changes {
		line := string(c.text[ch.table.start:ch.table.header])
		end := ch.table.start + len(strings.TrimRight(line, "\r\n"))
		c.replace(ch.table.start, end, codexHead(ch.to))
	}
	for key, s := range moved {
		c.states()[key] = s
	}
	return c.check()
}

// trust notes calls as trusted, as a person's "trust" in Codex's own dialog does. A hook that the person has
// switched off stays off.
func (c *codexConfig) trust(calls []*hookCall) error {
	for _, call := range calls {
		if c.knows(call) {
			continue
		}
		hash, err := call.trustHash()
		if err != nil {
			return err
		}
		if err := c.note(c.key(call.hookPlace), hash); err != nil {
			return err
		}
	}
	return c.check()
}

// note writes a hash into the table of a key.
func (c *codexConfig) note(key, hash string) error {
	line := "trusted_hash = " + tomlQuoted(hash)
	s := state(c.all, key)
	if s == nil {
		if err := c.extends(); err != nil {
			return err
		}
		c.append(codexHead(key), line, c.missing)
		c.states()[key] = map[string]any{"trusted_hash": hash}
		return nil
	}
	t, ok := c.find(codexHead(key))
	if !ok {
		return c.byHand(key)
	}
	s["trusted_hash"] = hash
	for at := t.header; at < t.end; at = lineEnd(c.text, at) {
		old := strings.TrimRight(string(c.text[at:lineEnd(c.text, at)]), "\r\n")
		if strings.HasPrefix(strings.TrimSpace(old), "trusted_hash") {
			c.replace(at, at+len(old), line)
			return nil
		}
	}
	c.replace(t.header, t.header, line+c.newline())
	return nil
}

// extends checks that tables may be added for hooks: what TOML has as a value in one piece, or by dotted keys,
// takes no further table, though not every parser minds.
func (c *codexConfig) extends() error {
	hooks, there := c.all["hooks"]
	table, _ := hooks.(map[string]any)
	_, deeper := table["state"]
	if there && !c.heads("[hooks") || deeper && !c.heads("[hooks.state") {
		return fmt.Errorf("%s: hooks is not written as tables there, [hooks.state.…], as Codex does; trust the hooks in Codex's own dialog", c.path)
	}
	return nil
}

// heads tells whether a line of the file begins that way.
func (c *codexConfig) heads(start string) bool {
	return bytes.HasPrefix(c.text, []byte(start)) || bytes.Contains(c.text, []byte("\n"+start))
}

// states is the table that holds all keys, in what was read.
func (c *codexConfig) states() map[string]any {
	if c.all == nil {
		c.all = map[string]any{}
	}
	hooks, ok := c.all["hooks"].(map[string]any)
	if !ok {
		hooks = map[string]any{}
		c.all["hooks"] = hooks
	}
	states, ok := hooks["state"].(map[string]any)
	if !ok {
		states = map[string]any{}
		hooks["state"] = states
	}
	return states
}

// check reads the changed text anew: it must say what was meant and nothing else.
func (c *codexConfig) check() error {
	got, err := c.read()
	if err != nil {
		return fmt.Errorf("config can't be edited without breaking it: %w", err)
	}
	want := codexConfig{all: c.all}
	have := codexConfig{all: got}
	want.states()
	have.states()
	if !same(want.all, have.all) {
		return fmt.Errorf("%s: can't be edited without changing something else in it; trust the hooks in Codex's own dialog", c.path)
	}
	return nil
}

func (c *codexConfig) byHand(key string) error {
	return fmt.Errorf("%s: the state of the hook %q is not written as a table of its own, as Codex does; write it as %s or remove it", c.path, key, codexHead(key))
}

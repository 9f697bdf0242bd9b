package tmux

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// keyNames are tmux's own names of keys (key_string_table in key-string.c, 3.2 to 3.6), in lower case: tmux takes
// them in any. Mouse keys are left out.
var keyNames = strings.Fields("enter escape space tab btab bspace up down left right home end npage pagedown pgdn " +
	"ppage pageup pgup ic insert dc delete f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12")

var modifiers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[CMScms]-)*`) })

// KeyName refuses what tmux does not know as a key: it would type it as text instead. A key is a name such as Enter
// or Up, or one character, either with C-, M- or S- before it.
func KeyName(key string) error {
	rest := key[len(modifiers().FindString(key)):]
	if rest == "" && key != "" { // "C-" alone is no key, and "C--" is one
		rest = key[len(key)-1:]
		if len(key) < 3 || !strings.HasSuffix(key, "--") {
			rest = ""
		}
	}
	if r, size := utf8.DecodeRuneInString(rest); size > 0 && size == len(rest) && r != utf8.RuneError && unicode.IsPrint(r) {
		return nil
	}
	for _, name := range keyNames {
		if strings.EqualFold(rest, name) {
			return nil
		}
	}
	return fmt.Errorf("%q is no key: names are Enter, Escape, Tab, Space, BSpace, Up, Down, Left, Right, Home, End, PgUp, PgDn, F1 to F12, or one character, with C-, M- or S- before it", key)
}

// Press is one key, or one text, for a pane as it was seen.
type Press struct {
	Server Identity
	Tag    string // that the pane must have; "" = not checked
	Seen   View   // as which it was looked at: where anything has moved since, nothing is pressed
	Key    string // by tmux's name
	Text   string // typed as it stands, control characters left out; instead of Key
}

// Press presses a key where the pane is the one meant and as it was seen, in one server step. False where it is not:
// look again. It takes its turn with Type. ErrNoPane where id is no pane's.
func (t *Tmux) Press(ctx context.Context, id string, o Press) (bool, error) {
	if err := paneID(id); err != nil {
		return false, err
	}
	unlock, ok := lockPane(ctx, t.socket+" "+id)
	if !ok {
		return false, ctx.Err()
	}
	defer unlock()
	w := &writer{t: t, id: id, Typing: Typing{Server: o.Server, Tag: o.Tag}}
	s := sight{View: o.Seen}
	if o.Text == "" {
		return w.press(ctx, s, "-- "+word(printable(o.Key)))
	}
	return w.typeRaw(ctx, s, printable(o.Text))
}

// typeRaw sends a text as if it were typed, not as a paste: a dialog takes single keys. It goes through a buffer
// because a process list shows arguments.
func (w *writer) typeRaw(ctx context.Context, s sight, text string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
	defer cancel()
	buffer := nonce()
	paste := guarded(w.id, w.same(s), "paste-buffer -r -d -b "+buffer+" -t "+w.id)
	paste[len(paste)-1] += " ; delete-buffer -b " + buffer
	return was(w.t.run(ctx, text, nil, []Cmd{{"load-buffer", "-b", buffer, "-"}, paste}))
}

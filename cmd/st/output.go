package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/term"

	"st/orch"
)

// printer writes for people or, with --json, exactly one object. Texts that come from agents pass through it
// as data: what could steer a terminal is taken out.
type printer struct {
	out, err io.Writer
	json     bool
	// live says that a person sees stderr as it is written.
	live bool
	// broken is the first error of writing to out: nobody has read what was printed.
	broken error
	styles styles
}

type styles struct{ head, good, warn, bad, dim, chosen lipgloss.Style }

func newPrinter(stdout, stderr *os.File) *printer {
	color := term.IsTerminal(int(stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &printer{
		out: stdout, err: stderr,
		live:   term.IsTerminal(int(stderr.Fd())),
		styles: newStyles(stdout, color),
	}
}

// plainPrinter prints everything to w, as to a pipe.
func plainPrinter(w io.Writer) *printer { return &printer{out: w, err: w, styles: newStyles(w, false)} }

// newStyles says what the terminal is like instead of letting lipgloss ask it: on a terminal that doesn't
// answer the question costs five seconds.
func newStyles(w io.Writer, color bool) styles {
	r := lipgloss.NewRenderer(w)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.Ascii)
	if color {
		r.SetColorProfile(termenv.ANSI)
	}
	foreground := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		head: r.NewStyle().Bold(true),
		good: foreground("2"), warn: foreground("3"), bad: foreground("1"),
		dim: r.NewStyle().Faint(true), chosen: r.NewStyle().Reverse(true),
	}
}

// styled is text that may hold SGR sequences of our own; block is text whose line ends are kept.
type (
	styled string
	block  string
)

func (p *printer) style(s lipgloss.Style, text string) styled { return styled(s.Render(clean(text))) }

// say prints a line of the answer.
func (p *printer) say(format string, args ...any) error {
	return p.write([]byte(fmt.Sprintf(format, tame(args)...) + "\n"))
}

// note prints a line beside the answer.
func (p *printer) note(format string, args ...any) {
	fmt.Fprintf(p.err, format+"\n", tame(args)...) // where stderr is closed there is nobody to tell
}

// progress prints a line only where a person watches.
func (p *printer) progress(format string, args ...any) {
	if p.live && !p.json {
		p.note(format, args...)
	}
}

// patienceTime is how long an answer may take before a person is told what is waited for.
var patienceTime = 2 * time.Second

// patience tells a person of an answer that is long in coming: git, a look at windows or another program has to be waited for.
// What it returns ends that.
func (p *printer) patience() (end func()) {
	t := time.AfterFunc(patienceTime, func() { p.progress("waiting for the daemon's answer (Ctrl-C ends only the waiting)") })
	return func() { t.Stop() }
}

func (p *printer) write(b []byte) error {
	_, err := p.out.Write(b)
	if err != nil && p.broken == nil {
		p.broken = err
	}
	return err
}

// data prints the answer of a verb with --json.
func (p *printer) data(v any) error {
	return p.object(struct {
		OK   bool `json:"ok"`
		Data any  `json:"data"`
	}{true, v})
}

// refusal prints an error with --json. Where even that can't be written the exit code has to do.
func (p *printer) refusal(e *orch.Error) {
	if err := p.object(struct {
		OK    bool        `json:"ok"`
		Error *orch.Error `json:"error"`
	}{false, e}); err != nil {
		p.note("st: %s", e.Message)
	}
}

func (p *printer) object(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(filled(reflect.ValueOf(v)).Interface()); err != nil {
		return err
	}
	return p.write(escapeC1(b.Bytes()))
}

// escapeC1 spells out DEL and the C1 controls, which JSON lets stand but terminals obey.
func escapeC1(b []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(b) {
		if r >= 0x7f && r <= 0x9f {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}

// filled copies v with empty lists where it has none: a list is [] and never null.
func filled(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return filled(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(filled(v.Elem()))
		return p
	case reflect.Struct:
		return filledStruct(v)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		for _, key := range v.MapKeys() {
			m.SetMapIndex(key, filled(v.MapIndex(key)))
		}
		return m
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(filled(v.Index(i)))
		}
		return s
	}
	return v
}

func filledStruct(v reflect.Value) reflect.Value {
	s := reflect.New(v.Type()).Elem()
	s.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			if f := filled(v.Field(i)); f.IsValid() {
				s.Field(i).Set(f)
			}
		}
	}
	return s
}

// tame cleans the texts among args.
func tame(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch a := arg.(type) {
		case styled:
			safe[i] = string(a)
		case block:
			safe[i] = cleanBlock(string(a))
		case string:
			safe[i] = clean(a)
		case error:
			safe[i] = clean(a.Error())
		case fmt.Stringer:
			safe[i] = clean(a.String())
		default:
			safe[i] = arg
		}
	}
	return safe
}

// clean takes out of a text what could steer a terminal, and makes one line of it.
func clean(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, dropSequences(s)), " ")
}

// cleanBlock is clean for a text of several lines.
func cleanBlock(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, dropSequences(strings.ReplaceAll(s, "\r\n", "\n")))
}

// harmless drops controls and what turns the reading direction.
func harmless(r rune) rune {
	switch {
	case unicode.IsControl(r), r == utf8.RuneError,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return -1
	}
	return r
}

// dropSequences takes out whole escape sequences, so that their parameters don't stay behind as text.
func dropSequences(s string) string {
	if !strings.ContainsAny(s, "\x1b") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != 0x1b {
			b.WriteByte(s[i])
			i++
			continue
		}
		i += sequenceLen(s[i:])
	}
	return b.String()
}

// sequenceLen is the length of the escape sequence at the start of s; of an unfinished string sequence only
// the introducer, so that nothing that a reader needs is lost with it.
func sequenceLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return 2
	case ']', 'P', '_', '^', 'X':
		end := strings.IndexAny(s, "\a")
		if st := strings.Index(s, "\x1b\\"); st >= 0 && (end < 0 || st < end) {
			return st + 2
		}
		if end >= 0 {
			return end + 1
		}
	}
	return 2
}

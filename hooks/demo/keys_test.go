package demo

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecoderJoinsWhatReadsCut(t *testing.T) {
	for _, c := range []struct {
		reads []string
		want  string
	}{
		{[]string{"\x1b[20", "0~one\rtwo\x1b", "[201~\r"}, `[{paste one\ntwo} {enter }]`},
		{[]string{"\x1b[200~" + strings.Repeat("x", 70), "\x1b[201~"}, "[{paste " + strings.Repeat("x", 70) + "}]"},
		{[]string{"\xe2\x9d", "\xaf"}, "[{text ❯}]"},
		{[]string{"\x1b"}, "[{esc }]"},
		{[]string{"\x1b[A\x1b[3~\r"}, "[{up } {delete } {enter }]"},
		{[]string{"hi\r"}, "[{text hi} {lost-enter }]"},
		{[]string{"hi", "\r"}, "[{text hi} {enter }]"},
		{[]string{strings.Repeat("y", 63) + "\r"}, "[{paste " + strings.Repeat("y", 63) + `\n}]`},
		{[]string{"\x1b[<0;3;4M"}, "[]"},
	} {
		var d decoder
		var keys []key
		for _, r := range c.reads {
			keys = append(keys, d.read([]byte(r))...)
		}
		if got := strings.ReplaceAll(fmt.Sprint(keys), "\n", `\n`); got != c.want {
			t.Errorf("%q: got %s, want %s", c.reads, got, c.want)
		}
	}
}

func TestWrapLosesNothing(t *testing.T) {
	for _, text := range []string{"", "a b", "one two  three", strings.Repeat("word ", 40), "日本語のテキスト and more"} {
		rows := wrap(text, 9)
		if got := strings.Join(rows, ""); got != text {
			t.Errorf("wrap(%q) gives %q", text, got)
		}
		for i, r := range rows {
			if Width(r) > 9 || i < len(rows)-1 && strings.HasSuffix(r, " ") {
				t.Errorf("wrap(%q): row %q", text, r)
			}
		}
	}
}

func TestRecipeIsOnlyAReport(t *testing.T) {
	for row, want := range map[string]string{
		"    st worker done --dispatch d7 --summary '...'": "{st d7}",
		"`/opt/st worker done --summary x`":                "{/opt/st }",
		"rm worker done":                                   "",
		"st worker donexyz":                                "",
		"Run st worker done":                               "",
	} {
		got := ""
		if r, ok := parseRecipe(row); ok {
			got = fmt.Sprint(r)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", row, got, want)
		}
	}
}

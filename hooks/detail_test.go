package hooks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDetail(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"  run \t it\n", "run it"},
		{"a\x1b[31mb\x07", "a[31mb"},
		{"\xff\u0085ok", "ok"},
		{strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{strings.Repeat("x", 201), strings.Repeat("x", 197) + "…"},
		{strings.Repeat("ä", 150), strings.Repeat("ä", 98) + "…"},
	} {
		got := detail(c.in)
		if got != c.want || len(got) > detailBytes || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got := detail("Which?", options([]string{"a", "b"})); got != "Which? (a / b)" {
		t.Errorf("got %q", got)
	}
}

func TestCells(t *testing.T) {
	rows := cellsOf([]string{"\x1b[1;7mx\x1b[22my", "z\x1b[0;2mf\x1b[38;5;2mg\x1b[38;2;1;2;7mh\x1b[27;22mi"})
	want := [][]cell{
		{{'x', style{bold: true, inverse: true}}, {'y', style{inverse: true}}},
		{{'z', style{inverse: true}}, {'f', style{dim: true}}, {'g', style{dim: true}}, {'h', style{dim: true}}, {'i', style{}}},
	}
	for y := range want {
		for x := range want[y] {
			if rows[y][x] != want[y][x] {
				t.Errorf("cell %d,%d: %+v, want %+v", x, y, rows[y][x], want[y][x])
			}
		}
	}
}

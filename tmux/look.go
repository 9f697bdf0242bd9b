package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// View is a pane as it stands: its visible screen and what tmux knows of it.
type View struct {
	// Rows are the visible rows, top first, not joined where they wrap, with SGR sequences and no others.
	Rows             []string
	CursorX, CursorY int // column and row, 0-based
	CursorVisible    bool
	Alternate        bool   // the alternate screen is on
	InMode           bool   // copy mode or another of tmux's own; Rows are still the program's
	Dead             bool   // its program has ended
	Width, Height    int    // columns, rows
	PanePID          int    // of the program that it was opened with
	Tag              string // "" for none
	Server           Identity
}

const viewFields = "\t#{pane_id}\t#{cursor_x}\t#{cursor_y}\t#{pane_width}\t#{pane_height}\t#{pane_pid}\t#{pid}\t#{start_time}" +
	"\t#{cursor_flag}\t#{alternate_on}\t#{pane_in_mode}\t#{pane_dead}\t#{socket_path}\t#{" + TagOption + "}"

// Look reads panes, all in one process up to about 130 of them. A pane that doesn't exist is missing in the
// answer.
func (t *Tmux) Look(ctx context.Context, ids ...string) (map[string]View, error) {
	views := make(map[string]View, len(ids))
	for len(ids) > 0 {
		mark := nonce()
		cmds, n, err := lookCommands(mark, ids)
		if err != nil {
			return nil, err
		}
		out, err := t.ask(ctx, cmds...)
		if err != nil {
			return nil, err
		}
		if err := readViews(out, mark, views); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return views, nil
}

// lookCommands asks for as many of the ids as one request carries, at least one.
func lookCommands(mark string, ids []string) (cmds []Cmd, n int, err error) {
	list := Cmd{"list-panes", "-a", "-F", mark + viewFields}
	if len(ids) == 1 {
		list = append(list, "-f", "#{==:#{pane_id},"+ids[0]+"}")
	}
	cmds = []Cmd{list}
	bytes := size(list)
	for ; n < len(ids); n++ {
		if err := paneID(ids[n]); err != nil {
			return nil, 0, err
		}
		c := capture(mark, ids[n])
		if bytes += size(c) + 2; bytes > requestBytes && n > 0 {
			break
		}
		cmds = append(cmds, c)
	}
	return cmds, n, nil
}

// capture prints the mark with the pane's number and then its screen. A missing target ends a call with an
// error, so the capture stands behind a question that may miss it; if-shell may.
func capture(mark, id string) Cmd {
	return Cmd{"if-shell", "-F", "-t", id, "#{==:#{pane_id}," + id + "}",
		"display-message -p " + mark + id[1:] + " ; capture-pane -p -e -t " + id}
}

func readViews(out, mark string, views map[string]View) error {
	screens := map[string][]string{}
	for _, p := range parts(out, mark) {
		if number, screen, ok := strings.Cut(p, "\n"); ok && p[0] != '\t' {
			screens["%"+number] = screenRows(screen)
		}
	}
	for _, row := range rows(out, mark) {
		id, v, err := parseView(row)
		if err != nil {
			return err
		}
		if screen, ok := screens[id]; ok {
			v.Rows = screen
			views[id] = v
		}
	}
	return nil
}

func screenRows(screen string) []string {
	rows := strings.Split(screen, "\n")
	for i, row := range rows {
		rows[i] = onlySGR(row)
	}
	return rows
}

func parseView(row string) (string, View, error) {
	f := strings.SplitN(row, "\t", 14)
	if len(f) != 14 {
		return "", View{}, fmt.Errorf("tmux list-panes: unreadable row %q", row)
	}
	var n [7]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil {
			return "", View{}, fmt.Errorf("tmux list-panes: unreadable row %q", row)
		}
	}
	return f[0], View{
		CursorX: int(n[0]), CursorY: int(n[1]), Width: int(n[2]), Height: int(n[3]), PanePID: int(n[4]),
		CursorVisible: f[8] == "1", Alternate: f[9] == "1", InMode: f[10] != "0" && f[10] != "", Dead: f[11] == "1",
		Server: Identity{Socket: f[12], PID: n[5], Start: n[6]}, Tag: f[13],
	}, nil
}

// onlySGR drops what capture-pane -e adds beside colours: hyperlinks (OSC 8, from 3.4 on) and the shifts to
// and from the line-drawing set.
func onlySGR(row string) string {
	if !strings.ContainsAny(row, "\x0e\x0f") && !strings.Contains(row, "\x1b]") {
		return row
	}
	var b strings.Builder
	for i := 0; i < len(row); {
		switch {
		case row[i] == '\x0e' || row[i] == '\x0f':
			i++
		case strings.HasPrefix(row[i:], "\x1b]"):
			end := strings.Index(row[i:], "\x1b\\")
			if end < 0 {
				return b.String()
			}
			i += end + 2
		default:
			b.WriteByte(row[i])
			i++
		}
	}
	return b.String()
}

// How long to wait between two looks at something that is about to change. tmux tells of no redraw, so it is
// asked again; the first looks follow fast, as most programs answer within a frame.
const (
	fastTick = 15 * time.Millisecond
	slowTick = 50 * time.Millisecond
)

// pause waits until the next look; false when the time given has run out.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

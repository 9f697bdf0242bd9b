package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"st/hooks"
	"st/orch"
)

// logs watches the agents' own logs for what no hook tells, and for our own lines. One watcher serves all, on the folders: the
// number of watchers a user may have is small, and a log may not be there yet.
func (w *watch) logs(ctx context.Context) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		w.log.Printf("agents' logs are not watched: %v", err)
		return
	}
	defer files.Close()
	l := &logWatch{watch: w, files: files, tails: map[string]*tail{}, folders: map[string]bool{}}
	changed, end := w.subscribe()
	defer end()
	l.sync(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			l.sync(ctx)
		case ev := <-files.Events:
			if t := l.tails[ev.Name]; t != nil && ev.Has(fsnotify.Write|fsnotify.Create) {
				l.read(ctx, t)
			}
		case err := <-files.Errors:
			w.log.Printf("agents' logs: %v", err) // events may be lost
			for _, t := range l.tails {
				l.read(ctx, t)
			}
		}
	}
}

type logWatch struct {
	*watch
	files   *fsnotify.Watcher
	tails   map[string]*tail // by path
	folders map[string]bool
}

// tail is one agent's log and how far it has been read.
type tail struct {
	path, agent string
	kind        hooks.Kind
	ours        hooks.Log
	in          []string // marks of our lines that went in and are still to be told
	offset      int64
	began       int64 // what stood before it when the watch began tells no event, only which of our lines went in
	long        bool  // the line at offset is not read to its end: it is too long, or its beginning is out of sight
}

// newTail begins with the end of what a log holds: a line of ours may have gone in while nobody watched.
func newTail(path, agent string, kind hooks.Kind) *tail {
	size := sizeOf(path)
	back := max(0, size-chunk)
	return &tail{path: path, agent: agent, kind: kind, ours: kind.Log(), offset: back, began: size, long: back > 0}
}

// sync follows the state: which logs there are to be watched.
func (l *logWatch) sync(ctx context.Context) {
	folders := map[string]bool{}
	tails := map[string]*tail{}
	for _, a := range l.live() {
		kind, err := hooks.Lookup(a.Kind)
		if a.Transcript == "" || err != nil || !filepath.IsAbs(a.Transcript) {
			continue
		}
		path := filepath.Clean(a.Transcript)
		t := l.tails[path]
		if t == nil || t.agent != a.ID {
			t = newTail(path, a.ID, kind)
		}
		tails[path] = t
		folders[filepath.Dir(path)] = true
	}
	for dir := range folders {
		if !l.folders[dir] && l.add(dir) {
			l.folders[dir] = true
		}
	}
	for dir := range l.folders {
		if folders[dir] {
			continue
		}
		delete(l.folders, dir)
		if err := l.files.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
			l.log.Printf("agents' logs: %v", err)
		}
	}
	was := l.tails
	l.tails = tails
	for path, t := range tails {
		if was[path] != t || len(t.in) > 0 {
			l.read(ctx, t)
		}
	}
	for path, t := range was {
		if tails[path] != t && !l.lives(t.agent) {
			l.read(ctx, t)
			l.words(ctx, t, t.ours.End())
		}
	}
}

// words tells which of our lines are in an agent's conversation. What can't be taken, on a full disk, is told again with
// the next.
func (l *logWatch) words(ctx context.Context, t *tail, marks []string) {
	t.in = append(t.in, marks...)
	if len(t.in) == 0 {
		return
	}
	what := orch.Transcript{Agent: t.agent, Event: orch.AgentEvent{Type: orch.WordIn, Marks: t.in}}
	_, err := l.do(ctx, orch.Input{At: l.now(), What: what})
	l.report(what, err)
	if err == nil {
		t.in = nil
	}
}

// add watches a folder; false where it is not there yet. It comes with the agent's first turn, and that
// changes the state.
func (l *logWatch) add(dir string) bool {
	err := l.files.Add(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Printf("agents' logs: %v", err)
	}
	return err == nil
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0 // not there yet: it is read from its beginning
	}
	return info.Size()
}

// chunk is how much of a log is read at a time, and so the longest line that can tell anything. The lines
// that matter are short; those that are not are prompts and files.
const chunk = 1 << 20

// read reads what a log has gained and tells which of our lines went in, all of them, then the last event that
// matters: of what has passed by now only the newest counts.
func (l *logWatch) read(ctx context.Context, t *tail) {
	f, err := os.Open(t.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Printf("agent %s: its log: %v", t.agent, err)
		}
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < t.offset {
		t.offset, t.began, t.long = 0, 0, false // written anew
	}
	var newest *orch.AgentEvent
	var marks []string
	for {
		data, err := io.ReadAll(io.NewSectionReader(f, t.offset, chunk))
		if err != nil {
			l.log.Printf("agent %s: its log: %v", t.agent, err)
			break
		}
		e, in := t.take(data)
		if marks = append(marks, in...); e != nil {
			newest = e
		}
		if len(data) < chunk {
			break
		}
	}
	l.words(ctx, t, marks)
	if newest != nil {
		l.tell(ctx, orch.Transcript{Agent: t.agent, Event: *newest})
	}
}

// take reads the whole lines of data and moves the offset behind them. It returns the last event that only a
// log tells, and the marks of our lines that went in.
func (t *tail) take(data []byte) (newest *orch.AgentEvent, marks []string) {
	for {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if !whole {
			if len(data) == chunk { // a line that fills all of it has no end in sight
				t.offset, t.long = t.offset+chunk, true
			} else if t.long {
				t.offset += int64(len(data))
			}
			return newest, marks
		}
		past := t.offset < t.began
		t.offset += int64(len(line)) + 1
		data = rest
		if t.long {
			t.long = false
			continue
		}
		marks = append(marks, t.ours.Words(line)...)
		if past {
			continue
		}
		if e, ok := t.kind.Line(line); ok && loggedOnly[e.Type] {
			newest = &e
		}
	}
}

// loggedOnly are the events that a hook may fail to tell. A prompt is among them: one that was queued goes on
// after the end of the turn before it.
var loggedOnly = map[string]bool{orch.Interrupted: true, orch.TurnFailed: true, orch.PromptIn: true}

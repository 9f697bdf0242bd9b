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

// logs watches the agents' own logs for what no hook tells. One watcher serves all, on the folders: the
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
	l.sync()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			l.sync()
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
	offset      int64
	long        bool // the line at offset was too long to be read and is being passed over
}

// sync follows the state: which logs there are to be watched.
func (l *logWatch) sync() {
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
			t = &tail{path: path, agent: a.ID, kind: kind, offset: sizeOf(path)}
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
	l.tails = tails
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

// read reads what a log has gained and tells the last of it that matters: of what has passed by now only
// the newest counts.
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
		t.offset, t.long = 0, false // written anew
	}
	var newest *orch.AgentEvent
	for {
		data, err := io.ReadAll(io.NewSectionReader(f, t.offset, chunk))
		if err != nil {
			l.log.Printf("agent %s: its log: %v", t.agent, err)
			break
		}
		if e := t.take(data); e != nil {
			newest = e
		}
		if len(data) < chunk {
			break
		}
	}
	if newest != nil {
		l.tell(ctx, orch.Transcript{Agent: t.agent, Event: *newest})
	}
}

// take reads the whole lines of data and moves the offset behind them. It returns the last event that only a
// log tells.
func (t *tail) take(data []byte) (newest *orch.AgentEvent) {
	for {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if !whole {
			if len(data) == chunk { // a line that fills all of it has no end in sight
				t.offset, t.long = t.offset+chunk, true
			} else if t.long {
				t.offset += int64(len(data))
			}
			return newest
		}
		t.offset += int64(len(line)) + 1
		data = rest
		if t.long {
			t.long = false
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

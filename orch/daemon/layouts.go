package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// layouts keeps what the servers show in which something of ours lives, a file a socket, so that it can be built again
// when a server has ended. What a server showed that has ended is never overwritten by what the next one shows: it
// stands beside it until it is restored, or nobody wants it. The files hold names and folders, and nothing that is run.
type layouts struct {
	dir string
	// ask says that a person is to be told of what was lost.
	ask bool
	now func() time.Time
	log *log.Logger

	mu sync.Mutex
}

// layoutFile is what is kept for one socket.
type layoutFile struct {
	Socket string       `json:"socket"`
	Now    *tmux.Layout `json:"now,omitempty"`  // of the server that runs, as it was last seen
	Lost   []lostLayout `json:"lost,omitempty"` // of those that have ended, the oldest first
	// Ask says that nothing of it is built before a person says so: since it was written the store was lost.
	Ask bool `json:"ask,omitempty"`
}

// lostLayout is what a server showed that has ended.
type lostLayout struct {
	tmux.Layout
	At time.Time `json:"at"` // when it was seen to have ended
}

func layoutDir(home string) string { return filepath.Join(home, "layouts") }

// LostNote is the file that holds what a person should be told of what was lost, until somebody has been.
func LostNote(home string) string { return filepath.Join(layoutDir(home), "lost") }

func (l *layouts) path(socket string) string {
	sum := sha256.Sum256([]byte(socket))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:8])+".json")
}

// change reads what is kept for a socket, has it changed and writes it where it was.
func (l *layouts) change(socket string, f func(*layoutFile)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, before, err := l.read(l.path(socket))
	if errors.Is(err, errUnfit) {
		file, before, err = layoutFile{}, nil, l.aside(l.path(socket), err)
	}
	if err != nil { // what is there is not known, so it is not written over
		l.log.Printf("layout of %s: %v", socket, err)
		return
	}
	lost := len(file.Lost)
	file.Socket = socket
	f(&file)
	if err := l.write(file, before); err != nil {
		l.log.Printf("layout of %s: %v", socket, err)
	}
	if len(file.Lost) != lost {
		l.note()
	}
}

// errUnfit says that a file is not as we write it.
var errUnfit = errors.New("it is not believed")

// aside moves a file away that is not believed: what it tells was lost may still be of use to a person.
func (l *layouts) aside(path string, why error) error {
	to := path + ".unread-" + l.now().UTC().Format("20060102T150405.000000000Z")
	if err := os.Rename(path, to); err != nil {
		return err
	}
	l.log.Printf("%s: %v; it was moved to %s", path, why, filepath.Base(to))
	return nil
}

// read answers nothing for a file that is not there. One that others could have written, or that is cut, is errUnfit.
func (l *layouts) read(path string) (file layoutFile, raw []byte, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil, nil
	}
	if err != nil {
		return file, nil, err
	}
	if err := private(info); err != nil {
		return file, nil, fmt.Errorf("%w: %w", errUnfit, err)
	}
	if raw, err = os.ReadFile(path); err != nil {
		return file, nil, err
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return layoutFile{}, nil, fmt.Errorf("%w: %w", errUnfit, err)
	}
	return file, raw, nil
}

func (l *layouts) write(file layoutFile, before []byte) error {
	path := l.path(file.Socket)
	if file.Now == nil && len(file.Lost) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.Marshal(file)
	if err != nil || string(raw) == string(before) {
		return err
	}
	if err := prepareDir(l.dir); err != nil {
		return err
	}
	return hooks.WriteOwn(path, raw)
}

// keep notes what a server shows. Another server at the same socket has ended.
func (l *layouts) keep(is tmux.Layout) {
	if len(is.Sessions) == 0 {
		return // it is just ending
	}
	l.change(is.Server.Socket, func(f *layoutFile) {
		if f.Now != nil && f.Now.Server != is.Server {
			l.end(f)
		}
		f.Now = &is
	})
}

// end moves what a server showed to what was lost.
func (l *layouts) end(f *layoutFile) {
	f.Lost = append(f.Lost, lostLayout{Layout: *f.Now, At: l.now()})
	f.Now = nil
}

// lose notes that a server has ended.
func (l *layouts) lose(server string) {
	id, err := tmux.ParseIdentity(server)
	if err != nil {
		return
	}
	l.change(id.Socket, func(f *layoutFile) {
		if f.Now != nil && f.Now.Server == id {
			l.end(f)
		}
	})
}

// forget drops what a server shows in which nothing of ours lives any more.
func (l *layouts) forget(server string) {
	id, err := tmux.ParseIdentity(server)
	if err != nil {
		return
	}
	l.change(id.Socket, func(f *layoutFile) {
		if f.Now != nil && f.Now.Server == id {
			f.Now = nil
		}
	})
}

// over keeps of what somebody has seen to be lost at a socket only what is left to do. What was lost since then stays.
func (l *layouts) over(socket string, seen, left []lostLayout) {
	l.change(socket, func(f *layoutFile) {
		since := slices.DeleteFunc(f.Lost, func(now lostLayout) bool {
			return slices.ContainsFunc(seen, func(was lostLayout) bool { return was.Server == now.Server && was.At.Equal(now.At) })
		})
		f.Lost, f.Ask = append(slices.Clone(left), since...), false
	})
}

// askFirst says that a person decides on all that is kept by now.
func (l *layouts) askFirst() {
	for _, file := range l.all() {
		l.change(file.Socket, func(f *layoutFile) { f.Ask = true })
	}
}

// asksOf says that a person is to decide on what a server shows, should it end.
func (l *layouts) asksOf(server string) bool {
	return slices.ContainsFunc(l.all(), func(f layoutFile) bool { return f.Ask && f.Now != nil && f.Now.Server.String() == server })
}

// all are the files that can be read.
func (l *layouts) all() (files []layoutFile) {
	paths, err := filepath.Glob(filepath.Join(globWord(l.dir), "*.json"))
	if err != nil {
		l.log.Printf("layouts: %v", err)
	}
	for _, path := range paths {
		file, _, err := l.read(path)
		if err != nil {
			l.log.Printf("%s: %v", path, err)
			continue
		}
		if l.path(file.Socket) == path {
			files = append(files, file)
		}
	}
	return files
}

// lost is what was lost, a line a socket.
func (l *layouts) lost() (list []orch.LostInfo) {
	for _, f := range l.all() {
		i := orch.LostInfo{Socket: f.Socket}
		names := map[string]bool{}
		for _, was := range f.Lost {
			i.At = was.At
			for _, s := range was.Sessions {
				if !names[s.Name] {
					i.Sessions = append(i.Sessions, s.Name)
				}
				names[s.Name] = true
				i.Windows += len(s.Windows)
			}
		}
		if len(f.Lost) > 0 {
			list = append(list, i)
		}
	}
	return list
}

// note leaves what the next person at a terminal is told, or takes it away where nothing is lost any more. The caller has
// the lock.
func (l *layouts) note() {
	list := l.lost()
	var err error
	if len(list) == 0 || !l.ask {
		err = os.Remove(filepath.Join(l.dir, "lost"))
	} else {
		err = hooks.WriteOwn(filepath.Join(l.dir, "lost"), []byte(lostWords(list)+"\n"))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Printf("layouts: %v", err)
	}
}

// lostWords say in a line what was lost.
func lostWords(list []orch.LostInfo) string {
	var parts []string
	for _, i := range list {
		names := slices.Clone(i.Sessions)
		for n := range names {
			names[n] = fmt.Sprintf("%q", names[n])
		}
		parts = append(parts, fmt.Sprintf("%d windows of %s", i.Windows, strings.Join(names, ", ")))
	}
	return "the tmux server has ended, and with it " + strings.Join(parts, "; ")
}

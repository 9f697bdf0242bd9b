package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Watcher tells when processes end. One goroutine waits for all of them; it costs nothing while none ends.
type Watcher struct {
	queue int
	wake  [2]int // a pipe that ends the goroutine

	mu     sync.Mutex
	byPID  map[int]*watched
	done   chan struct{}
	closed bool
}

type watched struct {
	proc Process
	tell func()
}

// NewWatcher makes a watcher.
func NewWatcher() (*Watcher, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	w := &Watcher{queue: queue, byPID: map[int]*watched{}, done: make(chan struct{})}
	if err := unix.Pipe(w.wake[:]); err != nil {
		unix.Close(queue)
		return nil, err
	}
	unix.CloseOnExec(w.wake[0])
	unix.CloseOnExec(w.wake[1])
	if err := w.change(w.wake[0], unix.EVFILT_READ, unix.EV_ADD, 0); err != nil {
		w.closeAll()
		return nil, err
	}
	go w.run()
	return w, nil
}

func (w *Watcher) change(ident, filter, flags int, notes uint32) error {
	var ev unix.Kevent_t
	unix.SetKevent(&ev, ident, filter, flags)
	ev.Fflags = notes
	_, err := unix.Kevent(w.queue, []unix.Kevent_t{ev}, nil, nil)
	return err
}

// Watch calls tell once, from the watcher's goroutine, when p ends. tell must not block. ErrGone where p has
// ended already; then tell is not called. A process that is watched already gets the new tell.
func (w *Watcher) Watch(p Process, tell func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errors.New("the watcher is closed")
	}
	err := w.change(p.PID, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT, unix.NOTE_EXIT)
	if errors.Is(err, unix.ESRCH) || err == nil && !Alive(p) {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	if err != nil {
		return fmt.Errorf("process %d: %w", p.PID, err)
	}
	w.byPID[p.PID] = &watched{proc: p, tell: tell}
	return nil
}

// Forget stops watching p. A tell that is under way may still come.
func (w *Watcher) Forget(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen := w.byPID[p.PID]; seen != nil && seen.proc == p {
		delete(w.byPID, p.PID)
	}
}

// Close ends the watcher; no tell comes after it has returned.
func (w *Watcher) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	_, err := unix.Write(w.wake[1], []byte{1})
	<-w.done
	return err
}

func (w *Watcher) run() {
	defer close(w.done)
	defer w.closeAll()
	events := make([]unix.Kevent_t, 64)
	for {
		n, err := unix.Kevent(w.queue, nil, events, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // only a closed queue fails, and only closeAll closes it
		}
		for _, ev := range events[:n] {
			if int(ev.Ident) == w.wake[0] && ev.Filter == unix.EVFILT_READ {
				return
			}
			w.ended(int(ev.Ident))
		}
	}
}

func (w *Watcher) ended(pid int) {
	w.mu.Lock()
	seen := w.byPID[pid]
	delete(w.byPID, pid)
	w.mu.Unlock()
	if seen != nil {
		seen.tell()
	}
}

func (w *Watcher) closeAll() {
	unix.Close(w.queue)
	unix.Close(w.wake[0])
	unix.Close(w.wake[1])
}

// Signal sends a signal to that process. ErrGone where it has ended. Between the look at its start time and
// the signal the pid could be handed out again: darwin has nothing that binds the two.
func Signal(p Process, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("process %d: %v is no signal of this system", p.PID, sig)
	}
	if !Alive(p) {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	err := unix.Kill(p.PID, number)
	if errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	return err
}

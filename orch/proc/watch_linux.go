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
	epoll int
	wake  int // an eventfd that ends the goroutine

	mu     sync.Mutex
	byFD   map[int32]*watched
	byProc map[Process]int32
	done   chan struct{}
	closed bool
}

type watched struct {
	proc Process
	tell func()
}

// NewWatcher makes a watcher. It needs pidfd_open: Linux 5.3.
func NewWatcher() (*Watcher, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wake)})
	}
	if err != nil {
		unix.Close(epoll)
		return nil, err
	}
	w := &Watcher{
		epoll: epoll, wake: wake,
		byFD: map[int32]*watched{}, byProc: map[Process]int32{},
		done: make(chan struct{}),
	}
	go w.run()
	return w, nil
}

// Watch calls tell once, from the watcher's goroutine, when p ends. tell must not block. ErrGone where p has
// ended already; then tell is not called. A process that is watched already gets the new tell.
func (w *Watcher) Watch(p Process, tell func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errors.New("the watcher is closed")
	}
	if fd, ok := w.byProc[p]; ok {
		w.byFD[fd].tell = tell
		return nil
	}
	fd, err := open(p)
	if err != nil {
		return err
	}
	ev := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, ev); err != nil {
		unix.Close(fd)
		return fmt.Errorf("process %d: %w", p.PID, err)
	}
	w.byFD[int32(fd)] = &watched{proc: p, tell: tell}
	w.byProc[p] = int32(fd)
	return nil
}

// open returns a pidfd of exactly that process. The start time is compared after it is open: from then on the
// descriptor can't mean another.
func open(p Process) (int, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return 0, fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", p.PID, err)
	}
	if !Alive(p) {
		unix.Close(fd)
		return 0, fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	return fd, nil
}

// Forget stops watching p. A tell that is under way may still come.
func (w *Watcher) Forget(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fd, ok := w.byProc[p]; ok {
		w.drop(fd)
	}
}

// drop closes a pidfd, which also takes it out of the epoll set. The caller holds mu.
func (w *Watcher) drop(fd int32) {
	delete(w.byProc, w.byFD[fd].proc)
	delete(w.byFD, fd)
	unix.Close(int(fd))
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
	_, err := unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-w.done
	return err
}

func (w *Watcher) run() {
	defer w.end()
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(w.epoll, events, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // only a closed epoll fails, and only end closes it
		}
		for _, ev := range events[:n] {
			if ev.Fd == int32(w.wake) {
				return
			}
			w.ended(ev.Fd)
		}
	}
}

func (w *Watcher) ended(fd int32) {
	w.mu.Lock()
	seen := w.byFD[fd]
	if seen != nil {
		w.drop(fd)
	}
	w.mu.Unlock()
	if seen != nil {
		seen.tell()
	}
}

func (w *Watcher) end() {
	w.mu.Lock()
	for fd := range w.byFD {
		w.drop(fd)
	}
	unix.Close(w.epoll)
	unix.Close(w.wake)
	w.mu.Unlock()
	close(w.done)
}

// Signal sends a signal to exactly that process. ErrGone where it has ended.
func Signal(p Process, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("process %d: %v is no signal of this system", p.PID, sig)
	}
	fd, err := open(p)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.PidfdSendSignal(fd, number, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	return err
}

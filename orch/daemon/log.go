package daemon

import (
	"os"
	"sync"
)

// logMax is the size in bytes at which the log is put aside. One older log is kept.
const logMax = 5 << 20

// Log is the daemon's log file. What the runtime writes when it dies follows it, where standard error is the
// same file.
type Log struct {
	mu     sync.Mutex
	path   string
	file   *os.File
	size   int64
	stderr bool // standard error goes along
}

// OpenLog opens the log at path, 0600.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path}
	if err := l.open(); err != nil {
		return nil, homeFault(path, err)
	}
	mine, err1 := l.file.Stat()
	errs, err2 := os.Stderr.Stat()
	l.stderr = err1 == nil && err2 == nil && os.SameFile(mine, errs)
	return l, nil
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends one entry and puts the file aside when it is full.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > logMax {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *Log) rotate() error {
	old := l.file
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	if l.stderr {
		if err := become(l.file, 2); err != nil {
			return err
		}
		if err := become(l.file, 1); err != nil {
			return err
		}
	}
	return old.Close()
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

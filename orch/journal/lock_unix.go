//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock takes the lock that bbolt takes, shared, for as long as the file is open.
func lock(f *os.File, wait time.Duration) error {
	end := time.Now().Add(wait)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("lock: %w", err)
		case time.Now().After(end):
			return fmt.Errorf("%w (waited %s)", ErrLocked, wait)
		}
		time.Sleep(lockPause) // flock can't wait with an end
	}
}

const lockPause = 20 * time.Millisecond

package journal

import (
	"fmt"
	"os"
	"time"
)

// sound looks at a store's file before bbolt maps it.
func sound(path string, wait time.Duration) error {
	info, err := os.Stat(path)
	if err != nil {
		return storeError(err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("%w: it is empty", ErrCorrupt)
	}
	return nil
}

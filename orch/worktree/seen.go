package worktree

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// noted is what an index notes of a file, to know later without reading it that it is the same.
type noted struct {
	ctime, mtime moment
	ino, size    uint32
}

// moment is a time as an index has it. Where a file system knows seconds alone the rest is 0.
type moment struct{ sec, nsec uint32 }

// tick is how coarse the clock of a file system may be: two changes within it leave the same time.
const tick = 20 * time.Millisecond

// overlooked are the files of an index of which git may not see that they have changed: it was told not to look, or would
// go by what it has noted of them, which proves nothing. git compares whole seconds, and what it compares is a setting; a
// file that has kept its length and was changed in the second in which it was written is unchanged for it.
func overlooked(ctx context.Context, dir string) (list, unseen []indexed, err error) {
	written, err := indexWritten(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if list, err = indexOf(ctx, dir); err != nil {
		return nil, nil, err
	}
	// Several look beside each other, as git does: a file system answers more than one at a time.
	parts := make([][]indexed, 8)
	var all sync.WaitGroup
	for n := range parts {
		all.Go(func() {
			for _, i := range list[len(list)*n/len(parts) : len(list)*(n+1)/len(parts)] {
				if i.blind(dir) || i.unsure(dir, written) {
					parts[n] = append(parts[n], i)
				}
			}
		})
	}
	all.Wait()
	return list, slices.Concat(parts...), nil
}

// indexWritten is when the index of a working tree was written; the zero time where it has none.
func indexWritten(ctx context.Context, dir string) (time.Time, error) {
	own, err := gitDir(ctx, dir)
	if err != nil {
		return time.Time{}, err
	}
	info, err := os.Stat(filepath.Join(own, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// unsure says that nobody knows whether the file is as the index has it, unless it is read: it is not the very one that was
// noted, or was changed at the moment at which the index was written. One that is not there git sees to be gone.
func (i indexed) unsure(dir string, written time.Time) bool {
	if i.module() || i.stage != '0' {
		return false
	}
	info, err := os.Lstat(filepath.Join(dir, i.name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	if err != nil || info.IsDir() {
		return err != nil
	}
	is, ok := stampOf(info)
	if !ok || is != i.noted || is.ctime.nsec == 0 && is.mtime.nsec == 0 {
		return true
	}
	return !time.Unix(int64(is.ctime.sec), int64(is.ctime.nsec)).Add(tick).Before(written)
}

// facts are the lines that git ls-files --debug writes behind a name.
const facts = 5

// notedBy reads those lines. What they are may change from one git to the next: what is not understood is as nothing, and
// proves nothing.
func notedBy(lines string) (n noted) {
	var skip uint32
	for i, to := range []*uint32{&n.ctime.sec, &n.ctime.nsec, &n.mtime.sec, &n.mtime.nsec, &skip, &n.ino, &skip, &skip, &n.size} {
		rest, ok := strings.CutPrefix(lines, labels[i])
		if !ok {
			return noted{}
		}
		value, end := uint64(0), 0
		for ; end < len(rest) && rest[end] >= '0' && rest[end] <= '9' && value <= math.MaxUint32; end++ {
			value = value*10 + uint64(rest[end]-'0')
		}
		if end == 0 || value > math.MaxUint32 {
			return noted{}
		}
		*to, lines = uint32(value), rest[end:]
	}
	return n
}

// labels stand before the numbers of these lines.
var labels = []string{"  ctime: ", ":", "\n  mtime: ", ":", "\n  dev: ", "\tino: ", "\n  uid: ", "\tgid: ", "\n  size: "}

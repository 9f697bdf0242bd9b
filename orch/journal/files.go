package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// runFileMost is the most that is read of a run.json. A task's text may be 1 MiB and so may its report.
const runFileMost = 256 << 20

// writeFile writes a file such that after a crash there is the old one or the new one, whole.
func writeFile(path string, raw []byte) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// copyTo copies a file, synced, under a name of its own.
func copyTo(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return storeError(err)
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func readLimited(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return raw, err
}

// writable makes sure that files can be made in the folder: the copies and run.json need it, not only the
// store.
func writable(dir string) error {
	path := filepath.Join(dir, File+".probe")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return storeError(err)
	}
	return storeError(errors.Join(f.Close(), os.Remove(path)))
}

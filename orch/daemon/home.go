package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"st/hooks"
	"st/orch"
)

// socketMax is how long a socket's path may be, in bytes. sun_path holds 104 on darwin and 108 on Linux,
// its final zero included.
const socketMax = 100

// Home returns the folder in which everything of ours lives: ST_HOME, else ~/.sophonz. It is absolute; it
// need not exist.
func Home(getenv func(string) string) (string, error) {
	if home := getenv("ST_HOME"); home != "" {
		return filepath.Abs(home)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".sophonz"), nil
	}
	return "", homeError("home_refused", "neither ST_HOME nor HOME says where the state is kept")
}

// Exists tells whether home is a folder of ours: whether anybody here uses us.
func Exists(home string) bool {
	info, err := os.Stat(home)
	return err == nil && info.IsDir() && owned(info) == nil
}

// Prepare makes home and its folders where they are missing, and refuses a home that is another user's or
// that others may enter (code home_refused) or that can't be written (store_read_only).
func Prepare(home string) error {
	for _, dir := range homeDirs(home) {
		if err := prepareDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// homeDirs are the folders that a daemon needs, outermost first.
func homeDirs(home string) []string {
	return []string{home, runDir(home), SpoolDir(home), filepath.Join(home, "orch")}
}

// prepareDir makes one folder of mode 0700, or checks that it is one and ours.
func prepareDir(dir string) error {
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return homeFault(dir, err)
	}
	return checkDir(dir)
}

// checkDir refuses a folder that somebody else owns or may enter.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return homeFault(dir, err)
	}
	return checkClosed(dir, info)
}

func checkClosed(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return homeError("home_refused", fmt.Sprintf("%s: not a folder", dir))
	}
	if err := owned(info); err != nil {
		return homeError("home_refused", fmt.Sprintf("%s: %v", dir, err))
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		e := homeError("home_refused", fmt.Sprintf("%s: others may enter it (mode %04o), it must be 0700", dir, mode))
		e.Next = []string{"chmod 700 " + shellWord(dir)}
		return e
	}
	return nil
}

// homeFault names a file error so that a caller sees whether the place is only readable.
func homeFault(dir string, err error) *orch.Error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return homeError("store_read_only", fmt.Sprintf("%s: can't be written: %v", dir, cause(err)))
	}
	return homeError("home_refused", fmt.Sprintf("%s: %v", dir, cause(err)))
}

// cause drops the path that a PathError repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func homeError(code, message string) *orch.Error {
	return &orch.Error{
		Code: code, Message: message,
		Hint: "ST_HOME names the folder in which the state is kept (default ~/.sophonz)",
	}
}

// shellWord quotes a word for a line that a person may type.
func shellWord(s string) string { return hooks.ShellWord(s) }

func runDir(home string) string { return filepath.Join(home, "run") }

// SpoolDir is the folder of events that wait for a daemon.
func SpoolDir(home string) string { return filepath.Join(home, "run", "spool") }

// LogPath is the daemon's log; the one before it has ".1" at its end.
func LogPath(home string) string { return filepath.Join(home, "st.log") }

// SocketPath is where the daemon of home listens. A path that is too long for a socket is replaced by one in
// /tmp/st-<uid>, named by a hash of home.
func SocketPath(home string) string {
	path := filepath.Join(runDir(home), "sock")
	if len(path) <= socketMax {
		return path
	}
	return filepath.Join(shortDir(home), "sock")
}

func shortDir(home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(fmt.Sprintf("/tmp/st-%d", os.Getuid()), hex.EncodeToString(sum[:8]))
}

// prepareSocketDir makes sure that nobody else can put a socket where ours is looked for, and leaves a note
// in home of where that is.
func prepareSocketDir(home string) error {
	path := SocketPath(home)
	note := filepath.Join(runDir(home), "sock.path")
	dir := filepath.Dir(path)
	if dir == runDir(home) {
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return homeFault(note, err)
		}
		return nil
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := prepareDir(d); err != nil {
			return err
		}
		if err := checkNoLink(d); err != nil {
			return err
		}
	}
	if err := os.WriteFile(note, []byte(path+"\n"), 0o600); err != nil {
		return homeFault(note, err)
	}
	return nil
}

// checkNoLink refuses a folder in /tmp that is a link: another user may have put it there.
func checkNoLink(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return homeFault(dir, err)
	}
	if !info.IsDir() {
		return homeError("home_refused", fmt.Sprintf("%s: not a folder of ours but a link", dir))
	}
	return nil
}

// checkSocketDir is what a client asks before it trusts a socket outside home.
func checkSocketDir(home string) error {
	dir := filepath.Dir(SocketPath(home))
	if dir == runDir(home) {
		return nil
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(d)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // dialling will say so
		}
		if err != nil {
			return homeFault(d, err)
		}
		if !info.IsDir() || owned(info) != nil || info.Mode().Perm()&0o077 != 0 {
			return homeError("home_refused", fmt.Sprintf("%s: not a folder of mode 0700 that is ours", d))
		}
	}
	return nil
}

//go:build !linux && !darwin

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var errSystem = errors.New("the daemon does not run on this system yet")

func owned(fs.FileInfo) error { return errSystem }

func writable(string) error { return errSystem }

func flock(*os.File, bool) error { return errSystem }

func flockShared(*os.File) error { return errSystem }

func ownSession() *syscall.SysProcAttr { return nil }

func endGroup(int) error { return errSystem }

func killed(*os.ProcessState) bool { return false }

func become(*os.File, int) error { return errSystem }

var stopSignals = []os.Signal{os.Interrupt}

func outOfFiles(error) bool { return false }

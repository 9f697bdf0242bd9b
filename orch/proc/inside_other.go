//go:build !linux

package proc

// Inside returns the processes whose current folder is a folder or below it. Here that can't be had: ErrUnsupported.
func Inside(string) ([]Info, error) { return nil, ErrUnsupported }

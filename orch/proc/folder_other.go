//go:build !linux && !darwin

package proc

func folder(int) (string, error) { return "", ErrUnsupported }

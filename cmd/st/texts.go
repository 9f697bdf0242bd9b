package main

import (
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"st/hooks"
)

// unfit says why a text can't be part of the record, "" where it can.
func unfit(s string) string {
	switch {
	case len(s) > textMax:
		return "it has more than 1 MiB"
	case strings.ContainsRune(s, 0):
		return "it holds a NUL byte"
	case !utf8.ValidString(s):
		return "it is not valid UTF-8"
	}
	return ""
}

// reason is why a file can't be used, without its path.
func reason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is none"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// shellWord quotes a word for a line that somebody may type.
func shellWord(s string) string { return hooks.ShellWord(s) }

package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// lastInLog returns what said finds in the last line of a log for which it finds anything. The log is read from its
// end, in growing steps: an answer is near the end, but one line with a tool's output or a request's copy may be
// megabytes long.
func lastInLog(path string, said func(line []byte) string) (answer string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	var rest []byte // the unread beginning of a line whose end was read
	for step := int64(64 << 10); end > 0; step *= 2 {
		from := max(0, end-step)
		chunk := make([]byte, end-from)
		if _, err := f.ReadAt(chunk, from); err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		chunk = append(chunk, rest...)
		start := 0
		if from > 0 {
			start = bytes.IndexByte(chunk, '\n') + 1 // 0 where there is no whole line yet
		}
		if text := lastSaid(chunk[start:], said); text != "" && (start > 0 || from == 0) {
			return text, nil
		}
		if start == 0 {
			start = len(chunk)
		}
		rest, end = bytes.Clone(chunk[:start]), from
	}
	return "", nil
}

// lastSaid looks through whole lines from their end.
func lastSaid(lines []byte, said func([]byte) string) string {
	for len(lines) > 0 {
		i := bytes.LastIndexByte(bytes.TrimSuffix(lines, []byte("\n")), '\n') + 1
		if text := said(lines[i:]); text != "" {
			return text
		}
		lines = lines[:i]
	}
	return ""
}

// logLine reads a line of an agent's log; ok is false where none of the pieces stands in it, which tell the lines worth
// parsing from the bulk, or where it can't be read.
func logLine[T any](line []byte, worth [][]byte) (l T, ok bool) {
	if !slices.ContainsFunc(worth, func(piece []byte) bool { return bytes.Contains(line, piece) }) {
		return l, false
	}
	return l, loosely(line, &l) == nil
}

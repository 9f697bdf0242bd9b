package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"st/hooks"
	"st/orch"
)

// logLag is how far an agent's own log may lag behind the agent. Claude Code gathers its lines for a moment; of a machine
// with ten processes for each core a line was seen 2.7 s after the time that stands in it.
const logLag = 5 * time.Second

// searchAgain is how often a log is searched meanwhile.
const searchAgain = 500 * time.Millisecond

// logSearch looks for a mark of ours in an agent's own log, again and again while the log may lag behind: what is told
// too early not to be there is owed once more, and the agent has it twice.
func (d *doer) logSearch(ctx context.Context, o orch.LogSearch) (what orch.LogSearched) {
	for end := time.Now().Add(logLag); ; {
		what = searchLog(o)
		if what.Found || what.Error != "" || o.Ended || time.Now().After(end) || !d.sought(o.Word) {
			return what
		}
		select {
		case <-ctx.Done():
			return what
		case <-time.After(searchAgain):
		}
	}
}

// sought says that nothing else has told yet what became of a word.
func (d *doer) sought(word string) (yes bool) {
	d.state(func(v orch.View) { _, yes = v.Entity("word/" + word).(orch.Word) })
	return yes
}

// searchLog looks for a mark of ours in an agent's own log. What stands there is in the agent's conversation, and will
// be when that is taken up again.
func searchLog(o orch.LogSearch) orch.LogSearched {
	found, err := logHolds(o)
	if errors.Is(err, fs.ErrNotExist) {
		return orch.LogSearched{Word: o.Word, None: o.Path}
	}
	if err != nil {
		return orch.LogSearched{Word: o.Word, Error: err.Error()}
	}
	return orch.LogSearched{Word: o.Word, Found: found}
}

func logHolds(o orch.LogSearch) (bool, error) {
	kind, err := hooks.Lookup(o.Kind)
	if err != nil {
		return false, err
	}
	f, err := os.Open(o.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	ours := kind.Log()
	r := bufio.NewReaderSize(f, chunk)
	for {
		line, long, err := r.ReadLine() // a line that is longer than the longest of ours tells nothing
		switch {
		case errors.Is(err, io.EOF):
			return o.Ended && slices.Contains(ours.End(), o.Mark), nil
		case err != nil:
			return false, err
		case long:
			for long && err == nil {
				_, long, err = r.ReadLine()
			}
			continue
		}
		if slices.Contains(ours.Words(line), o.Mark) {
			return true, nil
		}
	}
}

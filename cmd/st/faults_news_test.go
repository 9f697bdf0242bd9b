//go:build linux

package main

import (
	"strings"

	"st/orch"
)

// checkNews: of each worker its coordinator was told what became of it, each thing once.
func (k *record) checkNews() {
	if k.dead {
		return
	}
	said := map[string]int{} // worker and what → how often the lead was told by a line
	for _, l := range k.taken("lead") {
		for _, m := range sentences["news"].FindAllStringSubmatch(l.Text, -1) {
			for _, part := range strings.Split(m[1], "; ") {
				ids, what := newsPart(part)
				for _, id := range ids {
					said[id+" "+what]++
				}
			}
		}
	}
	told, doubt, fate, last := map[string]int{}, map[string]int{}, map[string]string{}, map[string]orch.Event{}
	for _, e := range k.events {
		what, way, _ := strings.Cut(strings.TrimSuffix(e.Text, ")"), " (")
		if i := strings.LastIndex(e.Text, " ("); i > 0 && e.Type != "news" {
			what, way = e.Text[:i], e.Text[i+2:]
		}
		switch e.Type {
		case "news":
			last[e.Worker] = e
		case "news-told", "news-unknown":
			if fate[e.Word] != "" && fate[e.Word] != "news-unknown" {
				k.fault("double: news %s of %s are told twice: %s", e.Word, e.Worker, e.Text)
			}
			fate[e.Word] = e.Type
			if k.tally.news++; e.Type == "news-unknown" {
				doubt[e.Worker+" "+what]++
				k.tally.doubt++
			} else if !strings.HasPrefix(way, "wait") {
				told[e.Worker+" "+what]++
			}
		}
	}
	for what, n := range said {
		if n > told[what]+doubt[what] {
			k.fault("double: the lead was told %q %d times, and %d times were meant", what, n, told[what]+doubt[what])
		}
	}
	for what, n := range told {
		if n > said[what] {
			k.fault("lost: %q counts as told %d times, and the lead heard it %d times", what, n, said[what])
		}
	}
	for _, w := range k.workers {
		e, owed := last[w.ID]
		switch want := whatNews[w.State]; {
		case want == "" || w.State == "gone" && one[orch.Worker](k, "worker/"+w.ID).Stopping != nil: // the lead has stopped it
		case !owed || e.Text != want:
			k.fault("lost: no news were owed of %s, which is %s, since %q", w.ID, w.State, e.Text)
		case fate[e.Word] == "":
			k.fault("lost: the lead never heard that %s %s", w.ID, e.Text)
		}
	}
}

// whatNews is what the lead is told at last, by the worker's state.
var whatNews = map[string]string{"finished": "finished", "failed": "failed", "no_report": "ended without a report", "gone": "died"}

// newsPart reads "w1, w2 finished".
func newsPart(part string) (ids []string, what string) {
	words := strings.Fields(part)
	for i, w := range words {
		ids = append(ids, strings.TrimSuffix(w, ","))
		if !strings.HasSuffix(w, ",") {
			return ids, strings.Join(words[i+1:], " ")
		}
	}
	return ids, ""
}

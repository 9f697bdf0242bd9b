//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
)

// mailed is a message that was sent, with what its worker's own log must say.
type mailed struct {
	id   string // d3-m17.md
	took time.Duration
}

// TestManyMessages: each worker gets its messages once and in their order, however many others get theirs at the same time.
// The judges are the workers' own logs.
func TestManyMessages(t *testing.T) {
	beside(t)
	workers, each := counted(8, 200), 5
	d := newDesk(t)
	if got := d.st("orch", "start", "--objective", "mail"); got.code != 0 {
		t.Fatal(got)
	}
	started := time.Now()
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for w := range workers {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			name := mailName(w)
			got := d.st("worker", "start", "--agent", "demo", "--session", "wide", "--name", name, "--prompt", "done ready", "--arg", "--log", "--arg", d.log(name))
			if got.code != 0 {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
	all.Wait()
	if got := d.st("worker", "wait", "--timeout", "240s"); got.code != 0 || t.Failed() {
		t.Fatal(got)
	}
	t.Logf("%d workers were started in %.1f s", workers, time.Since(started).Seconds())
	began, before, memory := time.Now(), usageOf(t, d.daemon()), d.memory()
	sent := make([][]mailed, workers)
	for w := range workers {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			for n := range each {
				sent[w] = append(sent[w], sendOne(d, w, n))
			}
		})
	}
	all.Wait()
	accepted := time.Since(began)
	if t.Failed() {
		return
	}
	left := workers * each
	for end := time.Now().Add(time.Duration(counted(1, 5)) * patience); left > 0; time.Sleep(5 * tick) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d messages did not arrive", left, workers*each)
		}
		left = 0
		for w := range sent {
			left += max(each-len(arrived(d, w)), 0)
		}
	}
	delivered := time.Since(began)
	for w := range sent {
		var want []string
		for _, m := range sent[w] {
			want = append(want, m.id)
		}
		if got := arrived(d, w); !slices.Equal(got, want) {
			t.Errorf("%s got %v, was sent %v", mailName(w), got, want)
		}
	}
	after := usageOf(t, d.daemon())
	var took []time.Duration
	for _, list := range sent {
		for _, m := range list {
			took = append(took, m.took)
		}
	}
	slices.Sort(took)
	t.Logf("%d messages to %d workers: accepted in %.1f s (a send p50 %d ms, p99 %d ms), all delivered after %.1f s; the daemon took %d ms of processor time, its memory is %d MiB (%d MiB before)",
		len(took), workers, accepted.Seconds(), took[len(took)/2].Milliseconds(), took[len(took)*99/100].Milliseconds(), delivered.Seconds(),
		10*(after.ticks-before.ticks), d.memory()>>20, memory>>20)
	var info struct {
		Messages []orch.MessageInfo `json:"messages"`
	}
	if err := d.st("check", "--all", "--json").read(&info); err != nil {
		t.Error(err)
	}
	reports := 0
	for _, m := range info.Messages {
		if m.Type == orch.ReportMail && m.How == "told" { // by the wait
			reports++
		}
	}
	if reports != workers {
		t.Errorf("%d reports lie in the box of the run and were told, not %d", reports, workers)
	}
}

// memory is what the daemon holds, in bytes.
func (d *desk) memory() int64 {
	var i orch.StatusInfo
	if err := d.st("status", "--json").read(&i); err != nil {
		d.t.Error(err)
	}
	return i.RSS
}

func mailName(w int) string { return fmt.Sprintf("x%dx", w) }

// sendOne sends the nth message to a worker.
func sendOne(d *desk, w, n int) mailed {
	at := time.Now()
	got := d.st("send", mailName(w), "--subject", fmt.Sprintf("message %d", n), "--body", fmt.Sprintf("say %d of %d", n, w), "--json")
	m := mailed{took: time.Since(at)}
	var a struct {
		Message orch.MessageInfo `json:"message"`
	}
	if err := got.read(&a); err != nil || got.code != 0 {
		d.t.Errorf("%s: %v: %s", mailName(w), err, got)
		return m
	}
	m.id = filepath.Base(a.Message.Path)
	return m
}

// arrived are the files of messages of which a worker was told, in the order in which it was, one that came twice twice.
func arrived(d *desk, w int) (ids []string) {
	for _, j := range d.jotted(mailName(w)) {
		switch j.What {
		case "prompt", "hook-prompt", "context":
		default:
			continue
		}
		for _, word := range strings.Fields(j.Text) {
			if base := filepath.Base(word); strings.Contains(base, "-m") && strings.HasSuffix(base, ".md") {
				ids = append(ids, base)
			}
		}
	}
	return ids
}

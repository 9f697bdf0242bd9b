//go:build linux || darwin

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
)

// taker is the loop's end of a spool: it keeps what it was given.
type taker struct {
	mu     sync.Mutex
	bodies []string
	by     []orch.Caller
	fail   error
}

func (k *taker) do(_ context.Context, _ time.Time, by orch.Caller, _, _ string, body json.RawMessage) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	k.bodies, k.by = append(k.bodies, string(body)), append(k.by, by)
	return nil
}

// refuse has all that follows fail so.
func (k *taker) refuse(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = err
}

func (k *taker) got() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.bodies)
}

func spooled(t *testing.T) (*Spooled, *taker) {
	home, _ := testHome(t)
	must(t, Prepare(home))
	k := &taker{}
	return &Spooled{Home: home, Callers: &Callers{}, Log: log.New(io.Discard, "", 0), Do: k.do}, k
}

func inSpool(t *testing.T, s *Spooled) int {
	t.Helper()
	n, err := s.Len()
	must(t, err)
	return n
}

func TestSpoolKeepsOrderAndWriter(t *testing.T) {
	s, k := spooled(t)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(i))
		must(t, Spool(s.Home, uuid.NewString(), "hook", From{Nonce: "n"}, i))
	}
	must(t, s.Take(t.Context()))
	if got := k.got(); !slices.Equal(got, want) {
		t.Errorf("taken %v, want %v", got, want)
	}
	by := k.by[0]
	if by.Path != "spool" || by.Nonce != "n" || len(by.Chain) < 2 || by.Chain[0].PID != os.Getpid() || by.Chain[0].Start == 0 {
		t.Errorf("its writer is %+v", by)
	}
	if n := inSpool(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestSpoolMakesItsFolder(t *testing.T) {
	home, _ := testHome(t)
	must(t, os.MkdirAll(home, 0o700))
	must(t, Spool(home, uuid.NewString(), "hook", From{}, 1))
	files, err := filepath.Glob(filepath.Join(escape(SpoolDir(home)), "*.json"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	info, err := os.Stat(files[0])
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func escape(path string) string { return strings.NewReplacer("[", `\[`, "*", `\*`).Replace(path) }

func TestOrdersAreNotSpooled(t *testing.T) {
	s, k := spooled(t)
	if err := Spool(s.Home, uuid.NewString(), "worker-start", From{}, 1); err == nil {
		t.Error("an order was spooled")
	}
	id := uuid.NewString()
	forged := fmt.Sprintf(`{"v":1,"op":"do","request":%q,"name":"worker-stop","from":{},"body":{}}`, id)
	must(t, os.WriteFile(filepath.Join(SpoolDir(s.Home), "5-"+id+".json"), []byte(forged), 0o600))
	must(t, s.Take(t.Context()))
	if got := k.got(); len(got) != 0 {
		t.Errorf("an order came through: %v", got)
	}
}

// TestGivenIDsAreSpooled: a request id that somebody made up need not be fit for a file's name.
func TestGivenIDsAreSpooled(t *testing.T) {
	s, k := spooled(t)
	long := strings.Repeat("/", orch.RequestMost)
	for _, id := range []string{"ci/1234:../x", long} {
		must(t, Spool(s.Home, id, "worker-done", From{}, id))
	}
	must(t, Spool(s.Home, "two words", "worker-done", From{}, "bad"))
	must(t, s.Take(t.Context()))
	if got := k.got(); len(got) != 2 || got[0] != `"ci/1234:../x"` || got[1] != `"`+long+`"` {
		t.Errorf("taken: %q", got)
	}
	if n := inSpool(t, s); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestGarbageIsPutAside(t *testing.T) {
	s, k := spooled(t)
	put := func(name, text string, mode os.FileMode) {
		must(t, os.WriteFile(filepath.Join(SpoolDir(s.Home), name), []byte(text), mode))
	}
	id := uuid.NewString()
	whole := fmt.Sprintf(`{"v":1,"op":"do","request":%q,"name":"hook","from":{},"body":{}}`, id)
	put("1-x.json", "{", 0o600)
	put("garbage", "", 0o600)
	put("2-"+id+".json", whole, 0o644)
	put("3-other.json", whole, 0o600)
	put("4-newer\n.json", "{}", 0o600)
	must(t, os.Symlink("/etc/passwd", filepath.Join(SpoolDir(s.Home), "5-link.json")))
	must(t, os.Mkdir(filepath.Join(SpoolDir(s.Home), "6-folder"), 0o700))
	put(".7-being-written.json", "{", 0o600)
	must(t, Spool(s.Home, uuid.NewString(), "hook", From{}, "good"))
	must(t, s.Take(t.Context()))
	if got := k.got(); len(got) != 1 || got[0] != `"good"` {
		t.Errorf("taken %v, want the good one", got)
	}
	bad, err := os.ReadDir(filepath.Join(SpoolDir(s.Home), asideDir))
	must(t, err)
	if len(bad) != 7 || inSpool(t, s) != 0 {
		t.Errorf("put aside %v, %d left", bad, inSpool(t, s))
	}
}

func TestSpoolWaitsForACommit(t *testing.T) {
	for _, fail := range []error{errors.New("disk full"), &orch.Error{Code: "store_read_only"}, &orch.Error{Code: codeUnreachable}} {
		s, k := spooled(t)
		must(t, Spool(s.Home, uuid.NewString(), "hook", From{}, 1))
		must(t, Spool(s.Home, uuid.NewString(), "hook", From{}, 2))
		k.fail = fail
		if err := s.Take(t.Context()); err == nil || inSpool(t, s) != 2 {
			t.Errorf("%v: take says %v, %d files are left", fail, err, inSpool(t, s))
		}
		k.fail = nil
		must(t, s.Take(t.Context()))
		if got := k.got(); !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("%v: then taken %v", fail, got)
		}
	}
	s, k := spooled(t)
	must(t, Spool(s.Home, uuid.NewString(), "worker-done", From{}, 1))
	k.fail = &orch.Error{Code: "not_yours"}
	must(t, s.Take(t.Context()))
	if inSpool(t, s) != 0 {
		t.Error("a report that was refused is still there")
	}
}

func TestSpoolIsWatched(t *testing.T) {
	s, k := spooled(t)
	must(t, Spool(s.Home, uuid.NewString(), "hook", From{}, 0))
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Watch(ctx, ready) }()
	<-ready
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprint(i))
		if i > 0 {
			must(t, Spool(s.Home, uuid.NewString(), "hook", From{}, i))
		}
	}
	until(t, "all are taken", func() bool { return len(k.got()) == 50 })
	if got := k.got(); !slices.Equal(got, want) {
		t.Errorf("taken %v", got)
	}
	cancel()
	must(t, <-done)
}

func TestReportSpoolsWhatCantBeKept(t *testing.T) {
	answers := make(chan error, 4) // one for each call
	home, stop := serveHere(t, Handlers{
		Do: func(context.Context, orch.Caller, string, string, json.RawMessage) (any, error) {
			return nil, <-answers
		},
	})
	answers <- errors.New("the store is full")
	answers <- errors.New("the store is full")
	answers <- &orch.Error{Code: "not_yours"}
	s := &Spooled{Home: home}
	must(t, Report(answerTime, home, "hook", From{}, 1, true, nil))
	if n := inSpool(t, s); n != 1 {
		t.Errorf("after a failed commit %d files wait, want 1", n)
	}
	if err := Report(answerTime, home, "hook", From{}, 1, false, nil); code(err) != codeFailed || inSpool(t, s) != 1 {
		t.Errorf("one that may be dropped: %v, %d files", err, inSpool(t, s))
	}
	if err := Report(answerTime, home, "hook", From{}, 1, true, nil); code(err) != "not_yours" || inSpool(t, s) != 1 {
		t.Errorf("a refusal: %v, %d files", err, inSpool(t, s))
	}
	stop()
	must(t, Report(answerTime, home, "hook", From{}, 1, true, nil))
	if n := inSpool(t, s); n != 2 {
		t.Errorf("without a daemon %d files wait, want 2", n)
	}
	if err := Report(answerTime, home+"-none", "hook", From{}, 1, true, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a home: %v", err)
	}
}

func FuzzSpoolFile(f *testing.F) {
	id := uuid.NewString()
	f.Add("1-"+id+".json", fmt.Sprintf(`{"v":1,"op":"do","request":%q,"name":"hook"}`, id))
	f.Add("x", "{")
	f.Fuzz(func(t *testing.T, name, text string) {
		if name == "" || len(name) > 200 || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			return
		}
		root, err := os.OpenRoot(t.TempDir())
		must(t, err)
		defer root.Close()
		must(t, root.WriteFile(name, []byte(text), 0o600))
		if req, err := (spoolFile{folder{Root: root}, name}).read(); err == nil && (!spoolable[req.Name] || uuid.Validate(req.Request) != nil) {
			t.Errorf("%q: %q was read as %+v", name, text, req)
		}
	})
}

//go:build linux || darwin

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestWake lets workers ask and finish while their coordinator, a real one of each kind, is busy, chats, compacts, is
// interrupted, ends and is taken up again. Each of the workers' questions is answered by a person when the coordinator
// has been told of it. What its model was asked must hold each event once, and the journal must say the same.
func TestWake(t *testing.T) {
	for _, kind := range []string{"claude", "codex"} {
		t.Run(kind, func(t *testing.T) { wake(t, kind, count(2, 5), count(4, 9)) })
	}
}

// wake lets that many workers ask so often and finish.
func wake(t *testing.T, kind string, workers, questions int) {
	s := newSeat(t, kind)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	plan := []string{"MOCK: bash st orch start --objective 'be woken'"}
	for i := range workers {
		var task strings.Builder
		for range questions {
			fmt.Fprintf(&task, "sleep %.1f\nchoose Which one?\n", 0.5+2*chance.Float64())
		}
		s.write(fmt.Sprintf("tasks/k%d.md", i+1), task.String()+"done all was asked\n")
		plan = append(plan, fmt.Sprintf("MOCK: bash st worker start --agent demo --name k%d --task tasks/k%d.md", i+1, i+1))
	}
	s.asks("plan.md", append(plan, "MOCK: say I wait.")...)
	s.await(60*time.Second, "the workers are started", func() (bool, string) {
		return len(s.events("worker-started")) == workers, s.said(s.pane)
	})
	want := workers * (questions + 1)
	rest := s.answers()
	defer rest()
	began := time.Now()
	for round := 0; round < acts || len(s.events("news-told")) < want; round++ {
		if time.Since(began) > time.Duration(count(200, 900))*time.Second {
			t.Fatalf("in time %d of %d news are told\n%s", len(s.events("news-told")), want, s.record())
		}
		s.lives(round)
	}
	s.rests()
	s.agrees(want)
	t.Logf("%d news in %.0f s", want, time.Since(began).Seconds())
}

// acts is how many different things lives does.
const acts = 6

// lives does one thing that coordinators do, or that is done to them.
func (s *seat) lives(round int) {
	s.t.Helper()
	const work = "MOCK: bash python3 -c 'import time; time.sleep(1.5)'"
	[acts]func(){
		func() { // a turn with tools
			s.asks(fmt.Sprintf("busy%d.md", round), work, work, "MOCK: say I was busy.")
			s.rests()
		},
		func() { // a person talks to it
			for i := range 3 {
				s.line(fmt.Sprintf("and what of thing %d in round %d", i, round))
				hold(time.Second)
			}
			s.rests()
		},
		s.compacts,
		func() { // a turn that a person stops
			s.asks(fmt.Sprintf("stopped%d.md", round), "MOCK: bash python3 -c 'import time; time.sleep(9)'", "MOCK: say never.")
			hold(3 * time.Second)
			s.person.Type("\x1b")
			s.rests()
		},
		func() { // nobody does anything
			hold(4 * time.Second)
			s.rests()
		},
		func() {
			s.again()
			s.line(fmt.Sprintf("where were we in round %d", round))
			hold(time.Second)
			s.rests()
		},
	}[round%acts]()
}

// compacts lets the coordinator sum its conversation up. Codex refuses that while a turn runs, and st may just have
// begun one.
func (s *seat) compacts() {
	s.t.Helper()
	before := s.ear.requests("compact")
	for try := 0; s.ear.requests("compact") == before; try++ {
		if try == 5 {
			s.t.Fatalf("no summary is asked for\n%s", s.scene())
		}
		s.line("/compact")
		for end := time.Now().Add(5 * time.Second); s.ear.requests("compact") == before && time.Now().Before(end); {
			hold(100 * time.Millisecond)
		}
		s.rests()
	}
}

// answers lets a person answer each question as soon as the coordinator knows of it, until the returned function is
// called.
func (s *seat) answers() (rest func()) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		answered := map[news]int{}
		for {
			for n, times := range s.ear.heard() {
				if !strings.HasPrefix(n.what, "asked for input") || answered[n] >= times {
					continue
				}
				switch out, code := s.stCode("worker", "key", n.worker, "1"); code {
				case 0:
					answered[n] = times
				case 7: // the screen was just being drawn: they look and press again
				default:
					s.t.Errorf("st worker key %s 1: exit code %d\n%s", n.worker, code, out)
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	return func() { close(stop); running.Wait() }
}

//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"st/orch/failpoint"
)

// pointsARun is how many points one plan takes from the list in turn, so that plans of consecutive seeds walk it.
const pointsARun = 3

// plansARound is how many plans of consecutive seeds name every point.
func plansARound() int { return (len(failpoint.Work) + pointsARun - 1) / pointsARun }

// plan is what happens in one run of the fault harness. The seed alone makes it.
type plan struct {
	seed   uint64
	jobs   []*job
	faults []mishap
	points []string // lines of the failpoints' plan
	// leadWaits: the coordinator waits for its workers itself, and so is told by the wait what became of them.
	leadWaits bool
}

// job is a worker with its task, and what its coordinator does with it.
type job struct {
	name, room, modes string
	progress          string // "" = it tells none
	asks              bool   // it asks a person, once
	stuck             bool   // it asks at once, and nobody answers
	outcome           string // succeeded, failed; "" = it never reports
	work              int    // ms
	begin             time.Duration
	letters           []letter
	stop              time.Duration // after the last letter; 0 = it is not stopped
}

// letter is a message to a worker. Its text is found nowhere else.
type letter struct {
	text string
	wait time.Duration // after the start, or the letter before
	now  bool
}

// mishap is a fault that comes at a time.
type mishap struct {
	at   time.Duration
	what string
	job  int           // whose agent or pane
	time time.Duration // how long it lasts; of clock: how far it jumps
}

func (m mishap) String() string {
	return fmt.Sprintf("%v %s job %d %v", m.at, m.what, m.job, m.time)
}

// hushTime is how long a daemon does not answer: longer than whoever asks it waits.
const hushTime = 8 * time.Second

// rough is the time within which mishaps come: that of the starts and the work.
const rough = 2500

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func planOf(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 2))
	p := plan{seed: seed}
	for i := range 2 + r.IntN(2) {
		p.jobs = append(p.jobs, jobOf(r, i))
	}
	switch r.IntN(4) {
	case 0, 1:
		p.jobs[0].stop = ms(1 + r.IntN(600))
	case 2: // in the middle of its work, maybe before a dialog that keeps it from quitting by itself
		p.jobs[0].stop, p.jobs[0].work, p.jobs[0].letters = ms(1+r.IntN(300)), 4000, nil
		p.jobs[0].stuck = r.IntN(2) == 0
	}
	for range 1 + r.IntN(3) {
		p.faults = append(p.faults, mishapOf(r, len(p.jobs)))
	}
	p.leadWaits = r.IntN(3) == 0
	first := int(seed%uint64(plansARound())) * pointsARun
	for _, name := range failpoint.Work[first:min(first+pointsARun, len(failpoint.Work))] {
		p.points = append(p.points, pointOf(r, name, true))
		if strings.HasPrefix(name, "stop.") { // else nobody might be stopped in a whole round
			p.jobs[0].stop, p.jobs[0].stuck = ms(100), true
		}
		if name == "report.spool.before" { // a daemon that is only killed is started again
			p.jobs[0].stop, p.jobs[0].stuck, p.jobs[0].asks, p.jobs[0].outcome, p.jobs[0].work = 0, false, false, "succeeded", 500
			p.jobs[0].progress = ""                             // else that meets the hush, and the report comes after it
			p.faults = []mishap{{what: "hush", time: hushTime}} // another might end the daemon, and with it the hush
		}
	}
	for range r.IntN(3) {
		p.points = append(p.points, pointOf(r, failpoint.Work[r.IntN(len(failpoint.Work))], false))
	}
	return p
}

// cheap are the nasty modes that cost little time. Each is one in which a line is easily lost or typed twice.
var cheap = []string{"", "", "", "enter-swallowed", "paste-slow=150", "slow-mount=0.4", "trust", "no-start-hook", "esc-quiet"}

func jobOf(r *rand.Rand, i int) *job {
	j := &job{
		name: []string{"api", "ui", "store"}[i], room: []string{"small", "wide"}[r.IntN(2)],
		modes: cheap[r.IntN(len(cheap))], asks: r.IntN(4) == 0, work: 100 + r.IntN(500), begin: ms(r.IntN(200)),
		outcome: []string{"succeeded", "succeeded", "succeeded", "failed", ""}[r.IntN(5)],
	}
	if r.IntN(2) == 0 {
		j.progress = "half of " + j.name
	}
	for k := range r.IntN(3) {
		j.letters = append(j.letters, letter{fmt.Sprintf("say letter %d for %s", k+1, j.name), ms(r.IntN(400)), r.IntN(6) == 0})
	}
	return j
}

// task is the job in the lines of the built-in agent. What is acknowledged to it goes into the file acked.
func (j *job) task(acked string) string {
	var lines []string
	if j.stuck {
		lines = append(lines, "choose who answers?")
	}
	if j.progress != "" {
		lines = append(lines, again(j.name+"-progress", "progress '"+j.progress+"'", "progress "+j.progress, acked))
	}
	lines = append(lines, fmt.Sprintf("sleep %g", float64(j.work)/1000))
	if j.asks {
		lines = append(lines, "choose which? | red | blue")
	}
	if j.outcome != "" {
		lines = append(lines,
			again(j.name+"-done", fmt.Sprintf("done --outcome %s --summary '%s'", j.outcome, j.summary()), "done "+j.summary(), acked),
			map[string]string{"succeeded": "done ", "failed": "fail "}[j.outcome]+j.summary())
	}
	return strings.Join(lines, "\n")
}

// again is a line in which a sane agent tells something: once more, under the same id, where the verb was killed.
func again(id, verb, what, acked string) string {
	return fmt.Sprintf("run for i in 1 2 3 4; do st worker %s --request %s && { echo '%s' >>%s; break; }; sleep 0.1; done", verb, id, what, acked)
}

func (j *job) summary() string { return "did " + j.name }

func mishapOf(r *rand.Rand, jobs int) mishap {
	kinds := []string{"daemon", "daemon", "down", "down", "cli", "cli", "agent", "agent", "pane", "freeze", "freeze", "full", "full", "clock", "clock", "tmux"}
	m := mishap{at: ms(r.IntN(rough)), what: kinds[r.IntN(len(kinds))], job: r.IntN(jobs)}
	switch m.what {
	case "down", "full", "freeze":
		m.time = ms(100 + r.IntN(900))
	case "clock":
		m.time = time.Duration(math.Exp(r.Float64()*9)) * time.Second // to two hours
		if r.IntN(2) == 0 {
			m.time = -m.time
		}
	}
	return m
}

// pointOf is what happens at a point: mostly the end of the process, at its first times rather than at late ones.
func pointOf(r *rand.Rand, name string, kill bool) string {
	n, what := int(math.Exp(r.Float64()*math.Log(40))), "kill"
	switch {
	case strings.HasSuffix(name, ".full"):
		what = "fail"
	case !kill:
		what = []string{"kill", "stop 400", "slow 300"}[r.IntN(3)]
	}
	return fmt.Sprintf("%s:%d=%s", name, max(n, 1), what)
}

func (p plan) String() string {
	var b strings.Builder
	for _, j := range p.jobs {
		fmt.Fprintf(&b, "job %+v\n", *j)
	}
	for _, m := range p.faults {
		fmt.Fprintf(&b, "fault %s\n", m)
	}
	for _, at := range p.points {
		fmt.Fprintf(&b, "point %s\n", at)
	}
	return b.String()
}

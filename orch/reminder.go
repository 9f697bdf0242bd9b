package orch

// A worker whose turn has ended without a report is reminded of it once.

// reminder is the dispatch that a word reminds of.
type reminder Dispatch

// Values of Dispatch.Reminder.
const (
	remindOwed = "owed"
	remindDone = "done" // it went in, or could not in time: there is no second
)

// remindPatience is how long a reminder may be owed before the worker counts as ended without a report all the same: a
// draft may stand in its input line, or a dialog.
const remindPatience = 2 * turnTimeout

// wantsReminder says that an agent's turn, by whose end it would be over, leaves a dispatch without its report. What an
// agent waits for itself, be it an answer, is no such end, nor is what a person has stopped.
func (s *step) wantsReminder(d Dispatch, a Agent, e AgentEvent) bool {
	w, _ := get[Worker](s, "worker/"+d.Worker)
	if _, asks := ownGate(s, a.ID); asks {
		return false // a person's answer makes it go on
	}
	return d.open() && d.Report == nil && d.Submitted != nil && d.Reminder == "" && limitsOf(s).Reminder > 0 && w.Stopping == nil &&
		e.Type != Interrupted && e.Background == 0 && !e.Limit && !leads(s, a.ID) &&
		len(questionsOf(s, d.Worker)) == 0
}

// leads says that an agent has workers that are not settled, by its own start or in a run of its own: it ends its turn to be
// woken.
func leads(v View, agent string) (yes bool) {
	each(v, startedBy(agent), func(w Worker) bool {
		yes = !settledState(w.State)
		return !yes
	})
	return yes || len(unsettledTeam(v, agent)) > 0
}

// remind owes the reminder.
func (s *step) remind(d Dispatch, state string) {
	id := s.next("o")
	w := Word{ID: id, Agent: d.Agent, Reminds: d.ID, Mark: "st-" + id, State: state, Patience: turnTimeout,
		Text: "st: dispatch " + d.ID + " has no report from you yet. If its work is done, or can't be done, report it as your task file says; else go on with it. [st-" + id + "]"}
	from := s.at
	if state == later {
		from = s.at.Add(limitsOf(s).Reminder)
		w.NotUntil = ptr(from)
	}
	w.GiveUp = ptr(from.Add(remindPatience))
	s.put(w)
	d.Reminder = remindOwed
	s.put(d)
}

// unremind takes the reminder back: the report is there, or the worker goes on by itself.
func (s *step) unremind(d Dispatch) Dispatch {
	for _, w := range wordsOf(s, d.Agent, func(w Word) bool { return w.Reminds == d.ID && w.untouched() }) {
		s.del(w.Key())
		d.Reminder = ""
	}
	return d
}

func (r reminder) done(s *step, kind string) {
	r.Reminder = remindDone
	s.put(Dispatch(r))
	s.log(kind, Event{Worker: r.Worker, Agent: r.Agent, Dispatch: r.ID})
}

func (r reminder) entered(*step, WordTyped)  {}
func (r reminder) withheld(*step, WordTyped) {}
func (r reminder) dropped(s *step, _ string) { r.done(s, "reminder-not-delivered") }
func (r reminder) overdue(s *step)           { r.done(s, "reminder-unknown") }
func (r reminder) proved(s *step)            { r.done(s, "reminded") }

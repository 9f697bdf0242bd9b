package orch

import (
	"strings"
	"time"
)

// oweQuestion owes the news of a question to whoever answers for its asker.
func (s *step) oweQuestion(w Worker, q Message) {
	to := hears(s, w)
	if to == "" {
		return
	}
	id, what := s.next("o"), "asked "+q.ID
	s.put(Word{ID: id, Agent: to, Mark: "st-" + id, State: s.owedTo(to), Patience: turnTimeout,
		News: &News{Run: w.Run, Worker: w.ID, Dispatch: w.Dispatch, What: what, State: "asked@" + q.ID, Message: q.ID}})
	s.log("news", Event{Agent: to, Run: w.Run, Worker: w.ID, Dispatch: w.Dispatch, Message: q.ID, Word: id, Text: what})
}

// asks says that news are those of a question.
func (n News) asks() bool { return strings.HasPrefix(n.State, "asked@") }

// answered says that a word is news of a question that needs no answer any more.
func (w Word) answered(v View) bool {
	if w.News == nil || !w.News.asks() {
		return false
	}
	q, _ := get[Message](v, "message/"+w.News.Message)
	return !q.unanswered()
}

// unaskNews takes the news of a question back that nobody has been told.
func (s *step) unaskNews(q Message) {
	for _, w := range s.untold(q.Worker) {
		if w.News.asks() && w.News.Message == q.ID {
			s.del(w.Key())
		}
	}
}

// questionKnown notes that who answers for a worker has been told of a question: while the worker waits for nothing else, a
// wait need not tell of it again.
func (s *step) questionKnown(n News, who string) {
	q, ok := get[Message](s, "message/"+n.Message)
	if !ok {
		return
	}
	if q.Delivered == nil {
		q.Delivered = ptr(s.at)
		s.put(q)
	}
	w, _ := get[Worker](s, "worker/"+n.Worker)
	s.knownState(w, who)
}

// knownState notes that the state of a worker need not be told to somebody: it waits for answers to questions that he knows.
func (s *step) knownState(w Worker, who string) {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if w.State != needsInput || a.Status == waiting {
		return
	}
	for _, q := range questionsOf(s, w.ID) {
		if q.Delivered == nil {
			return
		}
	}
	s.put(Told{Who: who, Worker: w.ID, State: w.mark()})
}

// answerLine is what is typed where no ask waits for the answer.
func answerLine(question, path string) string {
	return "The answer to your question " + question + " is in this file: " + path + " - read it and go on."
}

// bringAnswer owes an answer to its asker. While its ask waits, that tells it.
func (s *step) bringAnswer(w Worker, q, m Message, from string) {
	m.Path = filesOf(s, w) + "-" + m.ID + ".md"
	word := Word{ID: s.next("o"), Agent: w.Agent, Message: m.ID, Text: answerLine(q.ID, m.Path), Mark: m.Path, State: unwritten, Patience: turnTimeout}
	s.put(m)
	s.put(word)
	s.do(FileWrite{Word: word.ID, Path: m.Path, Note: Note{Message: m.ID, Worker: w.ID, Run: w.Run, From: from, Text: m.Body, Asked: q.ID, Question: q.Body}})
}

// askTold settles the answer that an ask has printed.
func (s *step) askTold(o AskTold) *Error {
	q, ok := get[Message](s, "message/"+o.Message)
	if !ok {
		return refuse("message_not_found", "", "message %q: no such message", o.Message)
	}
	if err := mayResume(s, s.in.By, q); err != nil {
		return err
	}
	if chain := s.in.By.Chain; len(chain) > 0 {
		if w, ok := get[Waiter](s, waitKey(chain[0].Process)); ok && !w.heard(s) {
			return nil // nobody has read what was printed
		}
	}
	m, ok := get[Message](s, "message/"+q.Reply)
	if !ok || m.Settled != nil {
		return nil
	}
	w, _ := get[Worker](s, "worker/"+q.Worker)
	for _, word := range wordsOf(s, w.Agent, func(o Word) bool { return o.Message == m.ID }) {
		if !word.untouched() {
			return nil // its line is on its way, and tells what becomes of it
		}
		s.del(word.Key())
	}
	m.State, m.Why, m.Delivered = Delivered, "", ptr(s.at)
	s.put(m)
	s.logMessage("message-delivered", m, Event{})
	s.settleMessage(m, told)
	return nil
}

// mayResume holds a question to its asker.
func mayResume(v View, by Caller, q Message) *Error {
	if q.Type != Question {
		return refuse("no_question", "", "message %s is no question", q.ID)
	}
	id := whoIs(v, by)
	w, _ := get[Worker](v, "worker/"+q.Worker)
	if id.agent == nil || id.child || id.agent.ID != w.Agent {
		return refuse("not_yours", "st worker show "+q.Worker, "question %s was asked by worker %s, and only that waits for its answer", q.ID, q.Worker)
	}
	return nil
}

// QuestionOf is what an ask waits for.
func QuestionOf(v View, by Caller, a MessageArgs) (QuestionInfo, *Error) {
	q, ok := get[Message](v, "message/"+a.Message)
	if !ok {
		return QuestionInfo{}, refuse("message_not_found", "", "message %q: no such message", a.Message)
	}
	if err := mayResume(v, by, q); err != nil {
		return QuestionInfo{}, err
	}
	i := QuestionInfo{Message: messageInfo(v, q.ID)}
	if m, ok := get[Message](v, "message/"+q.Reply); ok {
		i.Done, i.Answer = true, m.Body
	}
	if q.Over != "" && !i.Done {
		i.Done, i.Error = true, overError(q)
	}
	return i, nil
}

// A pending is what a worker waits for beside the dialogs on its screen.
type pending struct {
	kind    string // question, gate
	id      string
	text    string
	options []string
	since   time.Time
}

// awaits is what a worker waits for that somebody has to give it: an answer, or a person's choice, for which it holds a
// wait, or with which it has ended its turn.
func awaits(v View, worker string, a Agent) (p pending, yes bool) {
	if a.Gone != "" {
		return p, false
	}
	for _, q := range questionsOf(v, worker) {
		if !a.Turn || waitedOn(v, q.ID) {
			return pending{kind: question, id: q.ID, text: q.Body, options: q.Options, since: q.Created}, true
		}
	}
	if g, ok := asksPerson(v, a); ok {
		return pending{kind: gateWait, id: g.ID, text: head(g.Question), options: g.Options, since: g.Created}, true
	}
	return p, false
}

// asking says that a worker waits for such a thing.
func asking(v View, worker string, a Agent) bool {
	_, yes := awaits(v, worker, a)
	return yes
}

// waitedOn says that an ask waits for the answer to a question.
func waitedOn(v View, id string) (yes bool) {
	each(v, waitsOn(id), func(Waiter) bool {
		yes = true
		return false
	})
	return yes
}

// waitsOn is the shelf of the waits for one question or gate.
func waitsOn(id string) string { return "wait for " + id }

// Shelves finds a wait by what it waits for beside workers.
func (w Waiter) Shelves() []string {
	if w.For == "" {
		return nil
	}
	return []string{waitsOn(w.For)}
}

// OpenQuestion is an unanswered question of a worker as it is shown with it.
type OpenQuestion struct {
	ID       string    `json:"id"`
	Question string    `json:"question"`
	Options  []string  `json:"options"`
	To       string    `json:"to"` // the box: worker id or run id
	Created  time.Time `json:"created"`
	Waiting  bool      `json:"waiting"` // its ask waits
}

func openQuestions(v View, worker string) []OpenQuestion {
	open := []OpenQuestion{}
	for _, q := range questionsOf(v, worker) {
		open = append(open, OpenQuestion{ID: q.ID, Question: q.Body, Options: list(q.Options), To: q.To, Created: q.Created, Waiting: waitedOn(v, q.ID)})
	}
	return open
}

// QuestionInfo is how a question stands for its asker.
type QuestionInfo struct {
	Message MessageInfo `json:"message"`
	Done    bool        `json:"done"`   // there is nothing to wait for any more
	Answer  string      `json:"answer"` // "" where there is none
	Error   *Error      `json:"error"`  // why there will be none
}

// AskAnswer is the question that was recorded.
type AskAnswer struct {
	Message MessageInfo `json:"message"`
	Again   bool        `json:"again"` // it had been asked before
}

// ReplyAnswer is what a reply has done.
type ReplyAnswer struct {
	Message  MessageInfo `json:"message"`  // the answer
	Question MessageInfo `json:"question"` // what it answers
	Name     string      `json:"name"`     // of the worker that asked
	Option   bool        `json:"option"`   // it is one of the question's options
	Waiting  bool        `json:"waiting"`  // an ask waits for it, and tells it
	Already  bool        `json:"already"`  // the same had been replied before
}

func (s *step) replyAnswer(question string, already bool) ReplyAnswer {
	q := messageInfo(s, question)
	a := ReplyAnswer{Question: q, Message: messageInfo(s, q.Reply), Already: already}
	w, _ := get[Worker](s, "worker/"+q.Worker)
	a.Name = w.Name
	for _, o := range q.Options {
		a.Option = a.Option || o == a.Message.Body
	}
	each(s, waitsOn(question), func(w Waiter) bool {
		a.Waiting = a.Waiting || w.heard(s)
		return true
	})
	return a
}

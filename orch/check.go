package orch

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

type (
	// MailCheck makes a delivery of the open messages in the caller's boxes. Answer: CheckAnswer.
	MailCheck struct {
		Limit int `json:"limit,omitempty"` // at most the oldest; 0 = all
	}
	// MailAck settles what a delivery has shown. Answer: AckAnswer.
	MailAck struct {
		Delivery string `json:"delivery"`
	}
	// MailTold says that the caller's check has printed a delivery.
	MailTold struct {
		Delivery string `json:"delivery"`
	}
)

func (MailCheck) Type() string { return "mail-check" }
func (MailAck) Type() string   { return "mail-ack" }
func (MailTold) Type() string  { return "mail-told" }

const (
	// deliveriesMost is how many deliveries a box keeps.
	deliveriesMost = 50
	// deliveryBytes is how much of messages one answer shows, in bytes of JSON: a line of the socket holds 4 MiB.
	deliveryBytes = 3 << 20
)

type (
	// CheckAnswer is the delivery that a check has made; its texts are read with DeliveryOf.
	CheckAnswer struct {
		Delivery string `json:"delivery"` // "" where nothing is open
	}
	// AckAnswer is what an ack has settled.
	AckAnswer struct {
		Delivery string   `json:"delivery"`
		Acked    []string `json:"acked"`
	}
	// MailInfo is what lies in boxes.
	MailInfo struct {
		Delivery string        `json:"delivery"` // "" for a look
		Boxes    []string      `json:"boxes"`
		Messages []MessageInfo `json:"messages"`
		More     int           `json:"more"` // open ones that are left out
	}
	// MailboxInfo says whether there is mail for who waits.
	MailboxInfo struct {
		Done bool `json:"done"`
	}
	// MailArgs ask for a look into the caller's boxes.
	MailArgs struct {
		All   bool // also what is settled
		Limit int  // at most the oldest, with All the newest; 0 = all
	}
	// MailboxArgs ask for mail of these types; none = any.
	MailboxArgs struct{ Types []string }
	// DeliveryArgs name a delivery.
	DeliveryArgs struct{ Delivery string }
)

// messageTypes are the types that a message can have.
var messageTypes = []string{Mail, Question, Answer, Escalation, ReportMail}

// CheckMessageTypes refuses a type that no message has.
func CheckMessageTypes(types []string) *Error {
	for _, t := range types {
		if !slices.Contains(messageTypes, t) {
			return refuse("usage", "", "no message has the type %q; there are %s", t, strings.Join(messageTypes, ", "))
		}
	}
	return nil
}

// wanted tells whether a message is of one of the types, of any where none is named.
func (m Message) wanted(types []string) bool {
	return len(types) == 0 || slices.Contains(types, m.Type)
}

// openMail are the open messages in boxes, the oldest first.
func openMail(v View, boxes []string) (list []Message) {
	for _, b := range boxes {
		each(v, openIn(b), func(m Message) bool {
			list = append(list, m)
			return true
		})
	}
	slices.SortFunc(list, func(a, b Message) int { return cmp.Compare(idNumber("m", a.ID), idNumber("m", b.ID)) })
	return list
}

// MailFor says whether a caller who waits for mail has some.
func MailFor(v View, by Caller, a MailboxArgs) (MailboxInfo, *Error) {
	list, err := boxes(v, by)
	if err != nil {
		return MailboxInfo{}, err
	}
	if err := CheckMessageTypes(a.Types); err != nil {
		return MailboxInfo{}, err
	}
	i := MailboxInfo{Done: slices.ContainsFunc(openMail(v, list), func(m Message) bool { return m.wanted(a.Types) })}
	if run, ok := get[Run](v, "run/"+list[0]); ok && !i.Done && len(list) == 1 && run.Ended != nil { // a person's, who has named it
		return i, refuse("run_ended", "st check --all --run "+run.ID, "run %s has ended, so no mail comes any more", run.ID)
	}
	return i, nil
}

// LookIn is what lies in the caller's boxes, or in that of the run that it names, without making a delivery of it.
func LookIn(v View, by Caller, a MailArgs) (MailInfo, *Error) {
	list, err := boxes(v, by)
	if id := whoIs(v, by); err != nil && id.agent == nil {
		if r, no := currentRun(v, by); no == nil { // a person may look into any
			list, err = []string{r.ID}, nil
		}
	}
	if err != nil {
		return MailInfo{}, err
	}
	mail := openMail(v, list)
	if a.All {
		mail = allMail(v, list)
		if a.Limit > 0 && len(mail) > a.Limit {
			mail = mail[len(mail)-a.Limit:]
		}
	}
	i := MailInfo{Boxes: list}
	var n int
	i.Messages, n = fitting(v, mail, a.Limit)
	i.More = len(mail) - n
	return i, nil
}

// allMail are all messages that ever lay in boxes, the oldest first.
func allMail(v View, boxes []string) (list []Message) {
	runs := map[string]bool{}
	for _, b := range boxes {
		run := b
		if w, ok := get[Worker](v, "worker/"+b); ok {
			run = w.Run
		}
		if runs[run] {
			continue
		}
		runs[run] = true
		each(v, Of("message", run), func(m Message) bool {
			if slices.Contains(boxes, m.To) {
				list = append(list, m)
			}
			return true
		})
	}
	slices.SortFunc(list, func(a, b Message) int { return cmp.Compare(idNumber("m", a.ID), idNumber("m", b.ID)) })
	return list
}

// fitting are the first of a list, as many as one answer holds, and how many those are; limit 0 is no further limit.
func fitting(v View, list []Message, limit int) (infos []MessageInfo, n int) {
	infos, size := []MessageInfo{}, 0
	for _, m := range list {
		if limit > 0 && n == limit {
			break
		}
		i := messageInfo(v, m.ID)
		raw, err := json.Marshal(i)
		if size += len(raw); err != nil || size > deliveryBytes && n > 0 {
			break
		}
		infos, n = append(infos, i), n+1
	}
	return infos, n
}

// DeliveryOf is what a delivery of the caller shows, as it stands now.
func DeliveryOf(v View, by Caller, a DeliveryArgs) (MailInfo, *Error) {
	d, err := deliveryOf(v, by, a.Delivery)
	if err != nil {
		return MailInfo{}, err
	}
	i := MailInfo{Delivery: d.ID, Boxes: d.Boxes, Messages: []MessageInfo{}}
	for _, id := range d.Messages {
		i.Messages = append(i.Messages, messageInfo(v, id))
	}
	for _, m := range openMail(v, d.Boxes) {
		if !slices.Contains(d.Messages, m.ID) {
			i.More++
		}
	}
	return i, nil
}

// deliveryOf finds a delivery of the caller's boxes.
func deliveryOf(v View, by Caller, id string) (MailDelivery, *Error) {
	d, ok := get[MailDelivery](v, "delivery/"+id)
	if !ok {
		e := refuse("delivery_not_found", "st check", "delivery %q: no such delivery", id)
		e.Hint = "the newest of each box are kept; what is open is shown again by the next check"
		return d, e
	}
	who := whoIs(v, by)
	if who.child || !slices.ContainsFunc(d.Boxes, func(b string) bool { return reads(v, who, b) }) {
		return d, refuse("not_yours", "st check", "delivery %s was made of the mail of %s, and not for %s", d.ID, strings.Join(d.Boxes, ", "), who.name())
	}
	return d, nil
}

// reads says that a box is a caller's, also that of a run that has ended.
func reads(v View, id identity, box string) bool {
	if w, ok := get[Worker](v, "worker/"+box); ok {
		return id.agent != nil && id.agent.ID != "" && w.Agent == id.agent.ID
	}
	run, ok := get[Run](v, "run/"+box)
	return ok && run.Coordinator == id.from()
}

// mailCheck makes a delivery.
func (s *step) mailCheck(o MailCheck) *Error {
	s.who(s.in.By)
	list, err := boxes(s, s.in.By)
	if err != nil {
		return err
	}
	mail := openMail(s, list)
	_, n := fitting(s, mail, o.Limit)
	if n == 0 {
		s.answer = func() any { return CheckAnswer{} }
		return nil
	}
	d := MailDelivery{ID: s.next("v"), Boxes: list, At: s.at}
	for _, m := range mail[:n] {
		d.Messages = append(d.Messages, m.ID)
	}
	s.put(d)
	for _, b := range list {
		s.fewer(b)
	}
	s.answer = func() any { return CheckAnswer{Delivery: d.ID} }
	return nil
}

// fewer forgets the oldest deliveries of a box.
func (s *step) fewer(box string) {
	var keys []string
	each(s, Of("delivery", box), func(d MailDelivery) bool {
		keys = append(keys, d.Key())
		return true
	})
	for len(keys) > deliveriesMost {
		s.del(keys[0])
		keys = keys[1:]
	}
}

// mailTold notes what a check has printed, where its agent has heard it.
func (s *step) mailTold(o MailTold) *Error {
	d, err := deliveryOf(s, s.in.By, o.Delivery)
	if err != nil {
		return err
	}
	if chain := s.in.By.Chain; len(chain) > 0 {
		if w, ok := get[Waiter](s, waitKey(chain[0].Process)); ok && !w.heard(s) {
			return nil // nobody has read what was printed
		}
	}
	id := s.who(s.in.By)
	for _, m := range s.of(d, id) {
		s.shown(m)
	}
	return nil
}

// of are the messages of a delivery that lie in the caller's boxes still.
func (s *step) of(d MailDelivery, id identity) (list []Message) {
	for _, key := range d.Messages {
		if m, ok := get[Message](s, "message/"+key); ok && reads(s, id, m.To) {
			list = append(list, m)
		}
	}
	return list
}

// mailAck settles exactly what a delivery has shown.
func (s *step) mailAck(o MailAck) *Error {
	d, err := deliveryOf(s, s.in.By, o.Delivery)
	if err != nil {
		return err
	}
	acks := []string{}
	for _, m := range s.of(d, s.who(s.in.By)) {
		if !m.open() {
			continue
		}
		s.shown(m)
		m, _ = get[Message](s, m.Key())
		s.settleMessage(m, acked)
		acks = append(acks, m.ID)
	}
	d.Acked = true
	s.put(d)
	s.answer = func() any { return AckAnswer{Delivery: d.ID, Acked: acks} }
	return nil
}

// beginning is as much of a text as most bytes hold, in whole characters.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

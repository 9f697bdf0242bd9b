package orch

import (
	"fmt"
	"slices"
)

// mail is what concerns boxes.
func (w *walk) mail() What {
	c, _ := get[Counters](w, "counters/")
	d := fmt.Sprint("v", w.Intn(c.Delivery+1)+w.Intn(2))
	switch w.Intn(8) {
	case 0:
		return Send{To: fmt.Sprint("run:r", w.Intn(c.Run+1)), Body: "x", CopyDir: "/c"}
	case 1:
		return Send{To: []string{"@all", "@idle", "@demo"}[w.Intn(3)], Body: "x", CopyDir: "/c"}
	case 2:
		return Escalate{Text: "x", CopyDir: "/c"}
	case 3, 4:
		return MailCheck{Limit: w.Intn(3)}
	case 5:
		return MailAck{Delivery: d}
	case 6:
		if w.Intn(2) == 0 {
			return WaitBegan{For: Mailbox, Types: [][]string{nil, {Mail}, {ReportMail}}[w.Intn(3)], Deaf: map[string]bool{"demo": w.Intn(2) == 0}}
		}
	}
	return MailTold{Delivery: d}
}

// shown are the messages that an ack may settle.
func (w *walk) shown(in Input) []string {
	if o, ok := in.What.(MailAck); ok {
		d, _ := get[MailDelivery](w, "delivery/"+o.Delivery)
		return d.Messages
	}
	return nil
}

// holdBoxes: a message is settled once and never becomes open again; an ack settles only what its delivery showed; a
// delivery shows what is open, in order, and to nobody but who reads it; no message is lost; open is what is on the shelf.
func (w *walk) holdBoxes(in Input, before map[string]Message, shown []string) {
	open := map[string]bool{}
	now := w.messages()
	for _, m := range now {
		old, was := before[m.ID]
		switch {
		case old.Settled != nil && (m.Settled == nil || !m.Settled.Equal(*old.Settled) || m.How != old.How):
			w.Errorf("%s was settled (%s) and is another way now (%s), after %T", m.ID, old.How, m.How, in.What)
		case was && old.Settled == nil && m.How == acked && !slices.Contains(shown, m.ID):
			w.Errorf("%s is acknowledged by %T, which showed %v", m.ID, in.What, shown)
		case m.open():
			open[m.ID] = true
		}
		found := false
		each(w, openIn(m.To), func(o Message) bool { found = o.ID == m.ID; return !found })
		if found != m.open() {
			w.Errorf("%s is open: %v, on the shelf of %s: %v, after %T", m.ID, m.open(), m.To, found, in.What)
		}
	}
	for id := range before {
		if _, ok := now[id]; !ok {
			w.Errorf("%s is lost after %T", id, in.What)
		}
	}
	if _, ok := in.What.(MailCheck); !ok {
		return
	}
	c, _ := get[Counters](w, "counters/")
	d, ok := get[MailDelivery](w, fmt.Sprint("delivery/v", c.Delivery))
	if !ok || !d.At.Equal(in.At) {
		return
	}
	list, err := boxes(w, in.By)
	if err != nil || !slices.Equal(list, d.Boxes) {
		w.Errorf("%s is made for %v of %v (%v)", d.ID, list, d.Boxes, err)
	}
	for i, id := range d.Messages {
		if !open[id] && !before[id].open() || i > 0 && idNumber("m", d.Messages[i-1]) >= idNumber("m", id) {
			w.Errorf("%s shows %v, of which %s is open: %v", d.ID, d.Messages, id, open[id])
		}
	}
}

package orch

import "fmt"

// taker is what is known of one type of input: how it is read, and what takes it.
type taker struct {
	name string // on the wire and in stories
	read decoder[What]
	take func(*step, What) *Error
}

// takers are all inputs that there are, by name. A new one is a line here.
var takers = byName(
	refusable((*step).runStart),
	refusable((*step).runEnd),
	refusable((*step).runUse),
	refusable((*step).workerStart),
	refusable((*step).workerStop),
	refusable((*step).workerRetry),
	refusable((*step).workerAdopt),
	refusable((*step).workerRelease),
	refusable((*step).workerRestart),
	refusable((*step).agentResume),
	refusable((*step).taskCreate),
	refusable((*step).taskUpdate),
	refusable((*step).taskAssign),
	refusable((*step).taskPick),
	accepted((*step).checkEnded),
	refusable((*step).taskCancel),
	refusable((*step).workerDone),
	refusable((*step).workerProgress),
	refusable((*step).workerKey),
	accepted((*step).keysPressed),
	refusable((*step).workerSend),
	refusable((*step).ask),
	refusable((*step).reply),
	refusable((*step).askTold),
	refusable((*step).sendMail),
	refusable((*step).escalate),
	refusable((*step).mailCheck),
	refusable((*step).mailAck),
	refusable((*step).mailTold),
	refusable((*step).waitTold),
	refusable((*step).hook),
	accepted((*step).hookUnheard),
	accepted((*step).transcript),
	accepted((*step).paneOpened),
	accepted((*step).sessionBack),
	accepted((*step).paneFailed),
	refusable((*step).agentStarted),
	refusable((*step).agentExited),
	accepted((*step).screenSeen),
	accepted((*step).wordTyped),
	accepted((*step).fileWritten),
	accepted((*step).logSearched),
	accepted((*step).serverSeen),
	accepted((*step).agentMoved),
	refusable((*step).workerAttach),
	accepted((*step).booted),
	accepted((*step).agentStopped),
	refusable((*step).workerFinish),
	refusable((*step).treesFree),
	accepted((*step).treeFinished),
	accepted((*step).treeMade),
	accepted((*step).setupEnded),
	accepted(func(*step, SetupStopped) {}),
	accepted(func(*step, LaunchDropped) {}),
	accepted((*step).filesMoved),
	accepted((*step).configured),
	refusable((*step).waitBegan),
	accepted((*step).waitOver),
	refusable((*step).gateAsk),
	refusable((*step).gateAnswer),
	refusable((*step).gateCancel),
	refusable((*step).gateTold),
	accepted((*step).gateShown),
	accepted(func(s *step, _ Tick) { s.memory = true }),
)

// refusable is an input that may be refused.
func refusable[W What](take func(*step, W) *Error) taker {
	var none W
	return taker{none.Type(), into[W, What], func(s *step, what What) *Error {
		w, ok := what.(W)
		if !ok {
			return unknownInput(what)
		}
		return take(s, w)
	}}
}

// accepted is an input that is taken whatever it says.
func accepted[W What](take func(*step, W)) taker {
	return refusable(func(s *step, w W) *Error {
		take(s, w)
		return nil
	})
}

func byName(all ...taker) map[string]taker {
	named := map[string]taker{}
	for _, t := range all {
		if _, twice := named[t.name]; twice {
			panic("two inputs are called " + t.name)
		}
		named[t.name] = t
	}
	return named
}

func (s *step) take() *Error {
	t, ok := takers[s.in.What.Type()]
	if !ok {
		return unknownInput(s.in.What)
	}
	return t.take(s, s.in.What)
}

func unknownInput(what What) *Error {
	return refuse("internal", "", "no step is known for the input %T", what)
}

// DecodeWhat reads an input's happening from its name and JSON, as it stands on the wire.
func DecodeWhat(name string, raw []byte) (What, error) {
	if t, ok := takers[name]; ok {
		return t.read(raw)
	}
	return nil, fmt.Errorf("no input is called %q", name)
}

package hooks

import (
	"sort"
	"strconv"

	"github.com/tailscale/hujson"
)

// wantedHook is one hook as st wants it in a settings file: a group of its own with one call in it, for whatever
// the event is about.
type wantedHook struct {
	event   string
	timeout int // in the program's own unit: seconds, or milliseconds
}

// hookPlace is where a call stands: the event's group and the call in it, counted from 0.
type hookPlace struct {
	event       string
	group, call int
}

// hookCall is one call that stands in a settings file.
type hookCall struct {
	hookPlace
	object  *hujson.Object
	matched bool // its group is for certain tools only
	command string
	timeout int
	plain   bool   // type, command and timeout
	program string // of an st; "" for a foreign call
}

// hookFile is the hooks of a settings file: {"hooks":{EVENT:[{"hooks":[{"type","command","timeout"}]}]}}, the
// form that Claude Code 2.1.332, Codex 0.171.0 and Gemini 0.61.0 share.
type hookFile struct {
	*jsonFile
	kind, self string
}

// calls lists all calls of the file in their order.
func (f *hookFile) calls() ([]*hookCall, error) {
	all, err := f.open(f.box, "hooks", false, false)
	if err != nil || all == nil {
		return nil, err
	}
	var calls []*hookCall
	for i := range all.len() {
		event := memberName(all.object, i)
		if all.member(event) != i {
			continue // a later one of that name counts
		}
		groups, ok := all.child(all.object.Members[i].Value.Value)
		if !ok || groups.array == nil {
			continue
		}
		for g := range groups.len() {
			group, ok := groups.child(groups.array.Elements[g].Value)
			if !ok || group.object == nil {
				continue
			}
			calls = append(calls, f.callsIn(group, hookPlace{event: event, group: g})...)
		}
	}
	return calls, nil
}

func (f *hookFile) callsIn(group *jsonBox, at hookPlace) []*hookCall {
	i := group.member("hooks")
	if i < 0 {
		return nil
	}
	list, ok := group.child(group.object.Members[i].Value.Value)
	if !ok || list.array == nil {
		return nil
	}
	var calls []*hookCall
	for n := range list.len() {
		o, ok := list.array.Elements[n].Value.(*hujson.Object)
		if !ok {
			continue
		}
		at.call = n
		c := &hookCall{hookPlace: at, object: o, matched: group.member("matcher") >= 0, plain: true}
		c.read(f.kind, f.self)
		calls = append(calls, c)
	}
	return calls
}

func (c *hookCall) read(kind, self string) {
	isCommand, timed := false, false
	for i := range c.object.Members {
		l, ok := c.object.Members[i].Value.Value.(hujson.Literal)
		switch memberName(c.object, i) {
		case "type":
			isCommand = ok && l.String() == "command"
		case "command":
			c.command = l.String()
		case "timeout":
			c.timeout, timed = int(l.Int()), true
		default:
			c.plain = false
		}
	}
	c.plain = c.plain && timed
	if isCommand {
		c.program = hookProgram(c.command, kind, self)
	}
}

// install brings the file to one call for each wanted hook: those of an older st are changed where they stand,
// what is missing goes behind everything else, so that no foreign call moves.
func (f *hookFile) install(wanted []wantedHook) error {
	calls, err := f.calls()
	if err != nil {
		return err
	}
	timeouts := map[string]int{}
	for _, w := range wanted {
		timeouts[w.event] = w.timeout
	}
	have := map[string]bool{}
	var stale []*hookCall
	for _, c := range calls {
		timeout, wants := timeouts[c.event]
		switch {
		case c.program == "":
		case !wants || have[c.event] || c.matched || !c.plain:
			stale = append(stale, c)
		default:
			have[c.event] = true
			c.set(hookCommand(f.self, f.kind), timeout)
		}
	}
	for _, w := range wanted {
		if !have[w.event] {
			if err := f.add(w); err != nil {
				return err
			}
		}
	}
	return f.remove(stale)
}

// set gives a plain call its command and timeout, and touches nothing where they are right.
func (c *hookCall) set(command string, timeout int) {
	for i := range c.object.Members {
		value := &c.object.Members[i].Value.Value
		switch name := memberName(c.object, i); {
		case name == "command" && c.command != command:
			*value = hujson.String(command)
		case name == "timeout" && c.timeout != timeout:
			*value = hujson.Int(int64(timeout))
		}
	}
}

func (f *hookFile) add(w wantedHook) error {
	all, err := f.open(f.box, "hooks", false, true)
	if err != nil {
		return err
	}
	groups, err := f.open(all, w.event, true, true)
	if err != nil {
		return err
	}
	list := groups.put("", &hujson.Object{}).put("hooks", &hujson.Array{})
	call := list.put("", &hujson.Object{})
	call.add("type", hujson.String("command"))
	call.add("command", hujson.String(hookCommand(f.self, f.kind)))
	call.add("timeout", hujson.Int(int64(w.timeout)))
	return nil
}

// remove takes calls out, the last one first so that the places of the others hold, and with them the groups,
// lists and objects that were made for them.
func (f *hookFile) remove(calls []*hookCall) error {
	for i := len(calls) - 1; i >= 0; i-- {
		if err := f.removeOne(calls[i].hookPlace); err != nil {
			return err
		}
	}
	return nil
}

func (f *hookFile) removeOne(at hookPlace) error {
	all, err := f.open(f.box, "hooks", false, false)
	if err != nil {
		return err
	}
	groups, err := f.open(all, at.event, true, false)
	if err != nil {
		return err
	}
	group, _ := groups.child(groups.array.Elements[at.group].Value)
	list, err := f.open(group, "hooks", true, false)
	if err != nil {
		return err
	}
	list.remove(at.call)
	if list.len() > 0 { // the group was made for our call alone, wherever the brackets stand now
		return nil
	}
	if groups.remove(at.group) && all.remove(all.member(at.event)) {
		f.dropMember("hooks")
	}
	return nil
}

// ours are the calls that some st wrote.
func ours(calls []*hookCall) []*hookCall {
	var mine []*hookCall
	for _, c := range calls {
		if c.program != "" {
			mine = append(mine, c)
		}
	}
	return mine
}

// places are where calls stand, by what they are.
func places(calls []*hookCall) map[*hujson.Object]hookPlace {
	at := map[*hujson.Object]hookPlace{}
	for _, c := range calls {
		at[c.object] = c.hookPlace
	}
	return at
}

// events tells of each wanted hook and of each older one of ours whether it is there.
func (f *hookFile) events(wanted []wantedHook) ([]InstalledEvent, []string, error) {
	calls, err := f.calls()
	if err != nil {
		return nil, nil, err
	}
	found := map[string]*InstalledEvent{}
	for _, w := range wanted {
		found[w.event] = &InstalledEvent{Event: w.event}
	}
	var programs []string
	for _, c := range calls {
		if c.program == "" {
			continue
		}
		programs = append(programs, c.program)
		e := found[c.event]
		if e == nil {
			e = &InstalledEvent{Event: c.event}
			found[c.event] = e
		}
		e.Current = !e.Installed && f.current(c, wanted)
		e.Installed = true
	}
	var events []InstalledEvent
	for _, e := range found {
		events = append(events, *e)
	}
	sort.Slice(events, func(i, j int) bool { return events[i].Event < events[j].Event })
	return events, programs, nil
}

// current tells whether a call is as this st writes it.
func (f *hookFile) current(c *hookCall, wanted []wantedHook) bool {
	for _, w := range wanted {
		if w.event == c.event {
			return c.plain && !c.matched && c.timeout == w.timeout && c.command == hookCommand(f.self, f.kind)
		}
	}
	return false
}

// String is the place as Codex names it in the keys of its trust, after the event.
func (p hookPlace) String() string { return strconv.Itoa(p.group) + ":" + strconv.Itoa(p.call) }

package hooks

import "strings"

// Marked is a kind whose agents tell the commands that they run whose they are.
type Marked interface {
	// Marks are the variables by which they do: names, or prefixes that end in *.
	Marks() []string
}

// Inside is the name of the first variable of an environment ("NAME=value") that only an agent's command has; "" for none.
func Inside(environ []string) string {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == "ST_AGENT" && value != "" {
			return name
		}
		for _, n := range Names() {
			if m, ok := kinds[n].(Marked); ok && value != "" && nameIn(name, m.Marks()) {
				return name
			}
		}
	}
	return ""
}

// nameIn tells that a name is one of a list of names and of prefixes that end in *.
func nameIn(name string, list []string) bool {
	for _, want := range list {
		prefix, open := strings.CutSuffix(want, "*")
		if name == want || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

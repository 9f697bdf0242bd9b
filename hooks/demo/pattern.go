package demo

import (
	"regexp"
	"sync"
)

// pattern is compiled when it is first used. An agent waits for its hooks, and a hook needs few of our patterns:
// all of them, compiled at each start, cost as much as half of an empty program.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

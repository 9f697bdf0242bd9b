package orch

import (
	"path"
	"slices"
	"strings"
)

// Overlap is a live worker whose scope may hold a file that is in another's too.
type Overlap struct {
	Worker string   `json:"worker"`
	Name   string   `json:"name"`
	Scope  []string `json:"scope"`
	Dir    string   `json:"dir"`
}

// overlaps are the live workers, of any run, whose scope may hold a file that is in this one's. Where either has none
// there is nothing to compare.
func overlaps(v View, worker string) []Overlap {
	found := []Overlap{}
	w, _ := get[Worker](v, "worker/"+worker)
	if len(w.Scope) == 0 {
		return found
	}
	each(v, LiveAgents, func(a Agent) bool {
		o, ok := workerOf(v, a.ID)
		if ok && o.ID != w.ID && len(o.Scope) > 0 && w.Scope.overlaps(w.Dir, o.Scope, o.Dir) {
			found = append(found, Overlap{Worker: o.ID, Name: o.Name, Scope: o.Scope, Dir: o.Dir})
		}
		return true
	})
	return found
}

// scopeOf is the scope of a new worker: as asked, and never wider than that of a worker that asks for it.
func (s *step) scopeOf(id identity, o WorkerStart) (Scope, *Error) {
	scope, err := ReadScope(o.Scope)
	if err != nil || id.agent == nil {
		return scope, err
	}
	w, ok := workerOf(s, id.agent.ID)
	switch {
	case !ok || len(w.Scope) == 0:
		return scope, nil
	case len(scope) == 0 && o.Dir == w.Dir && o.Tree == nil:
		return w.Scope, nil
	case len(scope) == 0 || o.Dir != w.Dir || o.Tree != nil || !scope.narrower(w.Scope):
		return nil, refuse("scope", "", "worker %s has a scope (%s, in %s), and may start workers only in that folder and for files that are in it", w.ID, w.Scope, w.Dir)
	}
	return scope, nil
}

// narrower tells that all that a scope lets in is in another, both of the same folder. It errs on the side of no.
func (s Scope) narrower(o Scope) bool {
	if strings.HasPrefix(s[0], "!") && s.String() != o.String() {
		return false
	}
	for _, p := range s {
		if !strings.HasPrefix(p, "!") && !slices.Contains(o, p) && !o.holds(p) {
			return false
		}
	}
	return s.keepsOut(o)
}

// keepsOut tells that what another scope takes out is never let in here, or taken out in the same words.
func (s Scope) keepsOut(o Scope) bool {
	for _, p := range o {
		out, is := strings.CutPrefix(p, "!")
		if !is || slices.Contains(s, p) {
			continue
		}
		for _, q := range s.parts("/") {
			if meet(q, path.Join("/", out)) {
				return false
			}
		}
	}
	return true
}

// holds tells that all that a pattern matches is in a scope.
func (s Scope) holds(pattern string) bool {
	base, _ := strings.CutSuffix(pattern, "/**")
	if at := strings.IndexAny(base, wildSigns); at >= 0 {
		base = path.Dir(base[:at] + "x")
	}
	return s.Covers(base)
}

// ScopeFor is the worker that a caller is, where it has a scope, and those that have worked beside it with a scope of
// their own.
func ScopeFor(v View, by Caller) (w Worker, beside []Worker, ok bool) {
	id := whoIs(v, by)
	if id.agent == nil || id.child {
		return w, nil, false
	}
	w, ok = workerOf(v, id.agent.ID)
	if !ok || len(w.Scope) == 0 {
		return w, nil, false
	}
	each(v, "worker", func(o Worker) bool {
		if o.ID != w.ID && len(o.Scope) > 0 && worksAfter(v, o, w) {
			beside = append(beside, o)
		}
		return true
	})
	return w, beside, true
}

// worksAfter tells that a worker has worked since another began.
func worksAfter(v View, o, w Worker) bool {
	d, _ := get[Dispatch](v, "dispatch/"+o.Dispatch)
	a, _ := get[Agent](v, "agent/"+o.Agent)
	return a.Gone == "" || d.Report != nil && d.Report.At.After(w.Created) || a.LastSeen.After(w.Created)
}

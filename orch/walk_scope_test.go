package orch

import "slices"

// scopes are what a start of the walk may ask for; most ask for none.
var scopes = []Scope{nil, nil, nil, {"api/**"}, {"api/**", "!api/gen/**"}, {"web/**"}, {"api/x.go"}, {"!secrets/**"}, {"../bad"}}

func (w *walk) scope() Scope { return scopes[w.Intn(len(scopes))] }

// holdScopes: no worker may edit more than the one that started it or whose attempt it repeats, a window is ordered with its
// worker's scope, and only what a report told is outside of one.
func (w *walk) holdScopes(in Input, effects []Effect) {
	paths := []string{"api/a", "api/x.go", "api/gen/g", "web/w", "secrets/s", "top"}
	each(w, "worker", func(k Worker) bool {
		if !k.Created.Equal(in.At) || !startsWorker(in.What) { // later another may answer for it
			return true
		}
		above := []string{k.Retries}
		if by, ok := workerOf(w, k.By); ok {
			above = append(above, by.ID)
		}
		for _, id := range above {
			o, ok := get[Worker](w, "worker/"+id)
			for _, p := range paths {
				if ok && k.Scope.Allows(p) && !o.Scope.Allows(p) {
					w.Errorf("%s (%v) may edit %s, and %s (%v) may not, after %T", k.ID, k.Scope, p, o.ID, o.Scope, in.What)
				}
			}
		}
		return true
	})
	for _, e := range effects {
		if o, ok := e.Do.(PaneOpen); ok {
			if k, _ := get[Worker](w, "worker/"+o.Worker); !slices.Equal(k.Scope, o.Scope) {
				w.Errorf("%s has the scope %v, and its window %v", k.ID, k.Scope, o.Scope)
			}
		}
	}
}

func startsWorker(what What) bool {
	switch what.(type) {
	case WorkerStart, WorkerRetry:
		return true
	}
	return false
}

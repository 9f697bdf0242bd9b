package main

import (
	"slices"
	"testing"
)

// TestCompletionKnowsAllVerbs walks the verbs: each that people type can be completed, word by word, with its flags.
func TestCompletionKnowsAllVerbs(t *testing.T) {
	has := func(list []candidate, name string) bool {
		return slices.ContainsFunc(list, func(c candidate) bool { return c.name == name })
	}
	for _, v := range verbs {
		var before []string
		if v.noun != "" {
			if !has(candidates(nil, v.noun[:1]), v.noun) {
				t.Errorf("%s: the noun is not completed", v.path())
			}
			before = []string{v.noun}
		}
		if got := has(candidates(before, v.name[:1]), v.name); got == v.hidden {
			t.Errorf("%s: completed: %v", v.path(), got)
		}
		for _, f := range v.own() {
			if flag := "--" + f.Names()[0]; !has(candidates(append(slices.Clone(before), v.name), flag[:3]), flag) {
				t.Errorf("%s: %s is not completed", v.path(), flag)
			}
		}
	}
}

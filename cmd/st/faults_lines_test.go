//go:build linux

package main

import (
	"regexp"
	"strings"

	"st/orch"
)

// sentences are what a line may be made of.
var sentences = map[string]*regexp.Regexp{
	"file":     regexp.MustCompile(`(?:Your task|A message for you) is in this file: (\S+) - read it and do what it says\.`),
	"reminder": regexp.MustCompile(`st: dispatch (d\d+) has no report from you yet\.[^\[]* \[st-o\d+\]`),
	"news":     regexp.MustCompile(`st: (\w\d+[^.\[]*)\.(?: With that all workers of r\d+ have settled\.)? Read more: st worker read w\d+ \[st-o\d+\]`),
}

// checkLines: whatever an agent took was meant for it, and nobody else took anything.
func (k *record) checkLines() {
	for _, l := range k.taken("bystander") {
		k.fault("wrong pane: the bystander took %q", l.Text)
	}
	meant := map[string]bool{"lead " + leadPrompt: true} // who and what
	for _, d := range all[orch.Dispatch](k, "dispatch") {
		name := one[orch.Worker](k, "worker/"+d.Worker).Name
		meant[name+" "+d.Copy], meant[name+" "+d.ID], meant[name+" /exit"] = true, true, true
	}
	for _, m := range all[orch.Message](k, "message") {
		meant[one[orch.Worker](k, "worker/"+m.To).Name+" "+m.Path] = true
	}
	for _, name := range append(k.names(), "lead") {
		for _, l := range k.taken(name) {
			k.tally.lines++
			if rest := k.without(name, l.Text, meant); strings.TrimSpace(rest) != "" && !meant[name+" "+rest] {
				k.fault("wrong pane: %s took %q, of which %q is not for it", name, l.Text, rest)
			}
		}
	}
}

// without is a line without the sentences that were meant for an agent.
func (k *record) without(name, line string, meant map[string]bool) string {
	for kind, re := range sentences {
		line = re.ReplaceAllStringFunc(line, func(part string) string {
			if kind == "news" && name == "lead" || kind != "news" && meant[name+" "+re.FindStringSubmatch(part)[1]] {
				return ""
			}
			return part
		})
	}
	return line
}

func (r *faultRun) names() (list []string) {
	for _, j := range r.plan.jobs {
		list = append(list, j.name)
	}
	return list
}

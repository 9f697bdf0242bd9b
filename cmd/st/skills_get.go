package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/plugin"
)

var skillsGetVerb = &verb{
	noun: "skills", name: "get", args: "NAME", min: 1, max: 1, about: "a guide for an agent that uses st",
	help: "NAME is one of st skills ls. It needs no daemon and asks for nothing.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "full", Usage: "also the odd cases, what stands in JSON, and each verb with all its flags and exit codes"},
		}
	},
	run: skillsGet,
}

func init() { register(skillsGetVerb) }

func skillsGet(c *call) (int, error) {
	s := plugin.FindSkill(c.arg(0))
	if s.Name == "" {
		return 0, &orch.Error{Code: "skill_not_found", Message: fmt.Sprintf("skill %q: no such guide", c.arg(0)), Next: []string{"st skills ls"}}
	}
	text := s.Text(c.Bool("full"))
	if c.Bool("full") {
		text += "\n" + verbsIn(text)
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"skill": shownSkill{Name: s.Name, About: s.About, Full: c.Bool("full"), Text: text}})
	}
	return exitDone, c.out.say("%s", block(strings.TrimSuffix(text, "\n")))
}

// verbsIn tells of each verb that a guide names its usage, what its flags are, and with what it ends.
func verbsIn(text string) string {
	var b strings.Builder
	b.WriteString("# The verbs, with all their flags\n\nEach also takes --json, --run R, --as AGENT|%PANE and --help; flags stand before or after arguments.\n")
	for _, v := range sorted() {
		if v.hidden || !strings.Contains(text, "st "+v.path()) {
			continue
		}
		fmt.Fprintf(&b, "\n    %s\n\n%s. Exit codes:", v.usage(), v.about)
		for _, code := range v.exitCodes() {
			fmt.Fprintf(&b, " %d", code)
		}
		b.WriteString(".\n")
		for _, f := range v.own() {
			if d, ok := f.(cli.DocGenerationFlag); ok {
				fmt.Fprintf(&b, "- `--%s`: %s\n", f.Names()[0], strings.ReplaceAll(d.GetUsage(), "`", ""))
			}
		}
	}
	b.WriteString("\n| exit code | means |\n|---|---|\n")
	for code := range exitInterrupted + 1 {
		if says := meaning(code); says != "" {
			fmt.Fprintf(&b, "| %d | %s |\n", code, says)
		}
	}
	return b.String()
}

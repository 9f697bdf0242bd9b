package plugin

import _ "embed"

//go:embed guides/orchestrate.md
var guideOrchestrate string

//go:embed guides/worker.md
var guideWorker string

// Guide is the short text that is put into an agent's own configuration: it tells the agent to load a skill from the
// binary, so that text and program are always of one version.
type Guide struct {
	Name  string // of the skill that it loads
	About string // when it is of use, in a line
	Hint  string // what a person writes behind its name; "" for a guide that no person calls
	text  string
}

// Guides lists them.
func Guides() []Guide {
	return []Guide{
		{"orchestrate", "Hand parts of a job to other coding agents, each in a tmux window of its own, and be told when they are done. " +
			"For when your person asks that several agents, or another agent such as Claude Code or Codex, do something.", "what to hand to whom", guideOrchestrate},
		{"worker", "How to report, ask and escalate as a worker of st. For when a line has named a task file of st to you, or st calls you a worker.", "", guideWorker},
	}
}

// Text is the guide. asked stands where the words of the person come in, "" where the agent has them before its eyes
// anyway; command is how the agent's shell calls st where it does not find it by its name.
func (g Guide) Text(asked, command string) string {
	if asked != "" {
		asked = ":\n\n" + asked
	} else {
		asked = ", as they have just written."
	}
	return fill(g.text, "{{.Asked}}", asked, "{{.Command}}", shellWord(command))
}

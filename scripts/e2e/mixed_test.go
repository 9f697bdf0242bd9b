//go:build linux || darwin

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestMixed is the main job across kinds, as TestCoordinator is within one: a Claude that has a Codex work, and a
// Codex in its default sandbox, with st's hooks and rules installed, that has one of each work. No key is pressed
// after the asked.
func TestMixed(t *testing.T) {
	var table []took
	for i := range count(1, 10) {
		for _, busy := range loads() {
			name := fmt.Sprintf("%d with %d cores busy", i+1, busy)
			t.Run("claude "+name, func(t *testing.T) { table = append(table, claudeAsksCodex(t, busy)...) })
			t.Run("codex "+name, func(t *testing.T) { table = append(table, codexAsksBoth(t, busy)...) })
		}
	}
	report(t, table)
}

// loads are how many cores are kept busy meanwhile.
func loads() []int {
	if long() {
		return []int{0, 2}
	}
	return []int{2}
}

const mixedAsked = "Please do what mixed.md says."

func claudeAsksCodex(t *testing.T, busy int) []took {
	b := newDesk(t)
	b.allow("default", "Bash(st orch start:*)", "Bash(st worker start:*)", "Bash(st worker wait:*)", "Bash(st worker read:*)")
	b.write("tasks/one.md", "# One\nMOCK: say I begin.\nMOCK: bash st worker progress 'half way'\nMOCK: bash st worker done --summary '"+summaries[1]+"'\nMOCK: say One has been reported.\n")
	b.write("mixed.md", `# What I want
MOCK: bash st orch start --objective 'a small thing'
MOCK: bash st worker start --agent codex --name one --task tasks/one.md
MOCK: bash st worker wait --timeout 100s
MOCK: bash st worker read one
MOCK: say All is done: see the summary above.
`)
	defer b.busy(busy)()
	pane := b.open("claude")
	b.ask(pane, mixedAsked)
	b.ends(pane)
	return b.judge("claude", mixedAsked, "a small thing", summaries[1:])
}

func codexAsksBoth(t *testing.T, busy int) []took {
	b := newDesk(t)
	b.install("codex", "--trust-codex", "--allow")
	b.write("tasks/one.md", "# One\nMOCK: bash st worker progress 'half way'\nMOCK: bash st worker done --summary '"+summaries[0]+"'\nMOCK: say One has been reported.\n")
	b.write("tasks/two.md", "# Two\nMOCK: bash python3 -c 'import time; time.sleep(9)'\nMOCK: bash st worker done --summary '"+summaries[1]+"'\nMOCK: say Two has been reported.\n")
	b.write("mixed.md", `# What I want
MOCK: to-end st orch start --objective 'two small things'
MOCK: to-end st worker start --agent claude --name one --task tasks/one.md
MOCK: to-end st worker start --agent codex --name two --task tasks/two.md
MOCK: while 124 st worker wait --timeout 8s
MOCK: to-end st worker read one
MOCK: to-end st worker read two
MOCK: say All is done: see the summaries above.
`)
	defer b.busy(busy)()
	pane := b.open("codex")
	b.ask(pane, mixedAsked)
	b.ends(pane)
	return b.judge("codex", mixedAsked, "two small things", summaries)
}

// ends waits until the coordinator has ended its turn.
func (b *desk) ends(pane string) {
	b.t.Helper()
	b.await(2*time.Minute, "the coordinator says that all is done", func() (bool, string) {
		said := b.said(pane)
		return strings.Contains(said, "All is done: see"), said
	})
}

// install puts st's hooks into the person's settings, with these consents, for this test.
func (b *desk) install(kind string, consents ...string) {
	b.t.Helper()
	b.st(append([]string{"hooks", "install", "--agent", kind}, consents...)...)
	b.t.Cleanup(func() { b.st("hooks", "uninstall", "--agent", kind) })
}

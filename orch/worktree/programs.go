package worktree

import (
	"context"
	"regexp"
	"strings"
)

// runsProgram fits the settings by which git runs a program when it makes, compares, merges or removes working trees.
var runsProgram = regexp.MustCompile(`^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|diff\..*\.(command|textconv)|diff\.external|` +
	`core\.(sshcommand|gitproxy)|remote\..*\.(uploadpack|promisor)|credential\.(.*\.)?helper|gpg\.(.*\.)?program)$`)

// Programs lists the settings of a repository itself that have git run a program. Those of a person or of the system do
// not count: who may only write into the repository has not made them.
func Programs(ctx context.Context, dir string) (names []string, err error) {
	list, err := asks(dir, "config", "--list", "--includes", "--show-scope", "--name-only", "-z").words(ctx)
	for i := 0; i+1 < len(list); i += 2 {
		if scope := list[i]; (scope == "local" || scope == "worktree") && runsProgram.MatchString(strings.ToLower(list[i+1])) {
			names = append(names, list[i+1])
		}
	}
	return names, err
}

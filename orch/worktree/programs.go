package worktree

import (
	"context"
	"fmt"
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

type plainWanted struct{}

// Plainly has git run none of the programs that the settings of this repository name, and fetch nothing: who may write
// into it has named them. What they would have made of a file is not known then: such a file may be told of as changed.
func Plainly(ctx context.Context, dir string) (context.Context, error) {
	names, err := Programs(ctx, dir)
	if err != nil || len(names) == 0 {
		return ctx, err
	}
	var set [][2]string
	for _, name := range names {
		at := strings.LastIndexByte(name, '.') + 1
		switch low := strings.ToLower(name); {
		case strings.HasPrefix(low, "filter."):
			set = append(set, [2]string{name, ""}, [2]string{name[:at] + "required", "false"})
		case strings.HasPrefix(low, "merge."), strings.HasPrefix(low, "gpg."):
			set = append(set, [2]string{name, "false"})
		}
	}
	env := []string{"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", fmt.Sprint("GIT_CONFIG_COUNT=", len(set))}
	for i, kv := range set {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return context.WithValue(ctx, plainWanted{}, env), nil
}

// plain is what a git is told that runs none of those programs.
func plain(ctx context.Context) []string {
	env, _ := ctx.Value(plainWanted{}).([]string)
	return env
}

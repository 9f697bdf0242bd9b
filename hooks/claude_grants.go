package hooks

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// claudeGrant is a permission rule that some st wrote.
type claudeGrant struct {
	index   int
	text    string
	program string
}

// claudeWants are the rules by which Claude runs an agent's own verbs, each by name and by path: a rule is
// compared with the command as it was written.
func claudeWants(self string) []string {
	var rules []string
	for _, program := range []string{"st", ShellWord(self)} {
		for _, g := range allowed {
			for _, verb := range g.verbs {
				rules = append(rules, "Bash("+strings.Join(strings.Fields(program+" "+g.noun+" "+verb), " ")+":*)")
			}
		}
	}
	return rules
}

// claudeGrants are those rules of permissions.allow that are ours, and the list they stand in.
func claudeGrants(f *jsonFile, self string) ([]claudeGrant, *jsonBox, error) {
	permissions, err := f.open(f.box, "permissions", false, false)
	if err != nil || permissions == nil {
		return nil, nil, err
	}
	list, err := f.open(permissions, "allow", true, false)
	if err != nil || list == nil {
		return nil, nil, err
	}
	var rules []claudeGrant
	for i, e := range list.array.Elements {
		l, ok := e.Value.(hujson.Literal)
		if !ok {
			continue
		}
		if program := claudeGrantProgram(l.String(), self); program != "" {
			rules = append(rules, claudeGrant{i, l.String(), program})
		}
	}
	return rules, list, nil
}

// claudeGrantProgram is the program of a rule that st writes, "" for any other rule.
func claudeGrantProgram(rule, self string) string {
	inner, ok := strings.CutPrefix(rule, "Bash(")
	inner, end := strings.CutSuffix(inner, ":*)")
	if !ok || !end {
		return ""
	}
	for _, g := range allowed {
		for _, verb := range g.verbs {
			word, ok := strings.CutSuffix(inner, " "+strings.TrimSpace(g.noun+" "+verb))
			program := plainText(word)
			base := filepath.Base(program)
			if ok && program != "" && (isSt(base) || base == filepath.Base(self)) {
				return program
			}
		}
	}
	return ""
}

// claudeAllow adds the rules that are missing, and takes those out that name an st at another place.
func claudeAllow(f *jsonFile, self string) error {
	rules, _, err := claudeGrants(f, self)
	if err != nil {
		return err
	}
	permissions, err := f.open(f.box, "permissions", false, true)
	if err != nil {
		return err
	}
	list, err := f.open(permissions, "allow", true, true)
	if err != nil {
		return err
	}
	wants := claudeWants(self)
	for _, rule := range wants {
		if !slices.ContainsFunc(rules, func(r claudeGrant) bool { return r.text == rule }) {
			list.add("", hujson.String(rule))
		}
	}
	return claudeDisallow(f, self, func(r claudeGrant) bool { return !slices.Contains(wants, r.text) })
}

// claudeDisallow takes those of our rules out that are to go, and with them the list and the object that were
// made for them.
func claudeDisallow(f *jsonFile, self string, goes func(claudeGrant) bool) error {
	rules, list, err := claudeGrants(f, self)
	if err != nil {
		return err
	}
	for i := len(rules) - 1; i >= 0; i-- {
		if !goes(rules[i]) || !list.remove(rules[i].index) {
			continue
		}
		permissions, err := f.open(f.box, "permissions", false, false)
		if err != nil {
			return err
		}
		if permissions.remove(permissions.member("allow")) {
			f.dropMember("permissions")
		}
	}
	return nil
}

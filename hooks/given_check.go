package hooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// check refuses texts that can't be shown as they are, or would not reach the program so, and variables that are st's own.
func (g Given) check() error {
	for key, texts := range map[string][]string{
		"argv": g.Argv, "mark": {g.Mark}, "submit": g.Submit, "turn_end": {g.TurnEnd}, "resume": g.Resume, "quit": {g.Quit}, "pass_env": g.PassEnv,
	} {
		for _, t := range texts {
			if r, ok := unseen(t); ok {
				return fmt.Errorf("%s: a text holds the control character %U: what runs has to be what a person sees", key, r)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Env)) {
		if r, ok := unseen(name + g.Env[name]); ok {
			return fmt.Errorf("env: a name or a value holds the control character %U: what runs has to be what a person sees", r)
		}
		if err := ownName("env", name); err != nil {
			return err
		}
	}
	for _, name := range g.PassEnv {
		if err := ownName("pass_env", name); err != nil {
			return err
		}
	}
	return nil
}

// unseen is the first character that a terminal does not show, or by which it shows others in another order.
func unseen(text string) (rune, bool) {
	for _, r := range text {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return r, true
		}
	}
	return 0, false
}

// shownText refuses the text of a file that holds what no editor shows as it is.
func shownText(text string) error {
	for n, line := range strings.Split(text, "\n") {
		if r, ok := unseen(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", " ")); ok {
			return fmt.Errorf("line %d holds the control character %U", n+1, r)
		}
	}
	return nil
}

// ownName refuses a variable by which st knows its agents, or by which tmux knows its panes. In pass_env a name may end in
// *, which stands for the rest.
func ownName(key, name string) error {
	prefix, all := name, false
	if key == "pass_env" {
		prefix, all = strings.CutSuffix(name, "*")
	}
	if prefix == "" && !all || strings.Contains(prefix, "=") {
		return fmt.Errorf("%s: a name is empty or holds =", key)
	}
	for own, who := range map[string]string{"ST_": "st", "TMUX": "tmux"} {
		if strings.HasPrefix(prefix, own) || all && strings.HasPrefix(own, prefix) {
			return fmt.Errorf("%s: %s can't be given: %s sets %s* itself", key, name, who, own)
		}
	}
	return nil
}

// steering are variables by which somebody decides which code runs in a program, or in what it starts, beyond what its argv
// names. One that ends in * stands for all that begin so.
var steering = []string{
	"PATH", "HOME", "SHELL", "LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "BASH_ENV", "BASH_FUNC_*", "ENV", "SHELLOPTS", "PS4", "PROMPT_COMMAND", "ZDOTDIR",
	"NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBYOPT", "RUBYLIB", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
	"GIT_*", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "BROWSER", "SSH_ASKPASS", "SUDO_ASKPASS",
}

// Steers are the variables of a kind, given or passed, that decide which code runs beyond its argv: whoever trusts it has
// to know.
func (g Given) Steers() (names []string) {
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(g.Env)), g.PassEnv) {
		if slices.ContainsFunc(steering, func(s string) bool { return meets(s, name) }) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// meets tells that two names, each of which may end in *, can be of the same variable.
func meets(a, b string) bool {
	a, allA := strings.CutSuffix(a, "*")
	b, allB := strings.CutSuffix(b, "*")
	return a == b || allA && strings.HasPrefix(b, a) || allB && strings.HasPrefix(a, b)
}

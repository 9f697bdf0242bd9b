package hooks

import (
	"strings"
	"testing"
)

func TestAnswersGate(t *testing.T) {
	selves := []string{"/opt/st tools/st"}
	for command, want := range map[string]bool{
		"st gate answer g1 yes":                                          true,
		"/usr/local/bin/st gate answer g1 yes":                           true,
		"'/opt/st tools/st' gate answer g1 yes":                          true,
		"st --json gate answer g1 yes":                                   true,
		"st --run r1 gate answer g1 yes":                                 true,
		"st gate --json answer g1 yes":                                   true,
		"A=1 st gate answer g1 yes":                                      true,
		"env -u CLAUDECODE st gate answer g1 yes":                        true,
		"env CLAUDECODE= ST_AGENT= setsid st gate answer g1 yes":         true,
		"timeout 5 st gate answer g1 yes":                                true,
		"cd /tmp && st gate answer g1 yes; echo $?":                      true,
		"(st gate answer g1 yes &)":                                      true,
		"x=$(st gate answer g1 yes)":                                     true,
		`sh -c 'st gate answer g1 yes'`:                                  true,
		`bash -lc "cd /tmp; st gate answer g1 yes"`:                      true,
		`sh -c "sh -c 'st gate answer g1 yes'"`:                          true,
		`eval 'st gate answer g1 yes'`:                                   true,
		`tmux send-keys -t %1 'st gate answer g1 yes' Enter`:             true,
		`tmux send-keys -t %1 st Space gate Space answer Space g1 Enter`: true,
		`tmux -S /tmp/x new-window "st gate answer g1 yes"`:              true,
		`tmux run-shell '/usr/bin/st gate answer g1 yes'`:                true,
		`tmux set-buffer 'st gate answer g1 yes' \; paste-buffer -t %1`:  true,
		`echo 'st gate answer g1 yes' | sh`:                              true,
		`printf 'st gate answer g1 yes\n' | tmux load-buffer -`:          true,
		"bash <<EOF\nst gate answer g1 yes\nEOF":                         true,
		"bash <<< 'st gate answer g1 yes'":                               true,
		`python3 -c 'import os; os.system("st gate answer g1 yes")'`:     true,
		"st gate answer g1 'it":                                          true, // no shell reads it, and it is refused all the same
		"st gate ask --question 'may I answer the gate?'":                false,
		"st gate ask --question 'shall I st gate answer it?'":            false,
		"st gate show g1 # then st gate answer g1":                       false,
		"st gate wait g1":                                                false,
		"st worker send w1 'ask a person to st gate answer g1'":          false,
		"git commit -m 'Tell how st gate answer works'":                  false,
		"grep -rn 'st gate answer' docs":                                 false,
		"echo 'type st gate answer g1 yes'":                              false,
		"cat > notes.md <<EOF\nst gate answer g1 yes\nEOF":               false,
		"first gate answer":                                              false,
	} {
		if got := answersGate(command, selves); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}

// TestGateGuard: agents are refused whoever started them, and told what to do instead.
func TestGateGuard(t *testing.T) {
	call := bashCall("st gate answer g1 yes")
	for _, agent := range []bool{true, false} {
		if decision, reason := answerOf(t, call, agent); decision != "deny" || !strings.Contains(reason, "by a person only") {
			t.Errorf("claude, %v: %q %q", agent, decision, reason)
		}
		out := string(codex{selves: func() []string { return nil }}.Answer(call, Place{Agent: agent}))
		if !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "by a person only") {
			t.Errorf("codex, %v: %s", agent, out)
		}
	}
	if decision, _ := answerOf(t, bashCall("st gate ask --question 'may I?'"), false); decision != "" {
		t.Errorf("a question is not decided here: %q", decision)
	}
}

func FuzzAnswersGate(f *testing.F) {
	f.Add("tmux send-keys 'st gate answer g1' Enter")
	f.Add("bash <<EOF\nst gate answer\nEOF")
	f.Fuzz(func(t *testing.T, command string) { answersGate(command, []string{"/opt/st tools/st"}) })
}

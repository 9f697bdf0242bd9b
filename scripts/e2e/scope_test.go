//go:build linux || darwin

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestScope: a Claude that may edit without being asked and a Codex without a sandbox have a scope. Each is refused in the
// act, by its editing tool and in its shell, edits what is in its scope, and what it lets a script change is told
// with its report.
func TestScope(t *testing.T) {
	b := newDesk(t)
	b.allow("acceptEdits", "Bash(echo:*)", "Bash(sh:*)")
	b.write("slip.sh", "echo x > web/slipped-$1\n")
	b.write("web/w.txt", "w\n")
	b.must(exec.Command("git", "-C", b.dir, "add", "-A"))
	b.must(exec.Command("git", "-C", b.dir, "-c", "user.name=dev", "-c", "user.email=dev@example.invalid", "commit", "-qm", "first"))
	shell := "MOCK: bash echo x > web/shell-KIND\nMOCK: bash echo x > api/shell-KIND\nMOCK: bash bash\nMOCK: bash sh slip.sh KIND\n" +
		"MOCK: bash st worker done --summary 'tried it'\nMOCK: say done"
	tasks := map[string]string{
		"claude": "MOCK: write-file web/tool-KIND x\nMOCK: write-file api/gen/tool-KIND x\nMOCK: write-file api/tool-KIND x\n",
		"codex": `MOCK: bash-json "apply_patch <<'EOP'\n*** Begin Patch\n*** Add File: web/patch-KIND\n+x\n*** End Patch\nEOP"` + "\n" +
			`MOCK: tool apply_patch "*** Begin Patch\n*** Add File: web/tool-KIND\n+x\n*** End Patch"` + "\n" +
			`MOCK: tool apply_patch "*** Begin Patch\n*** Add File: api/tool-KIND\n+x\n*** End Patch"` + "\n",
	}
	// Codex offers its tool for patches to models that it knows only; of a newer one it would tell first.
	known := []string{"--model", "gpt-5.5", "--arg=-c", `--arg=notice.model_migrations={"gpt-5.5"="gpt-6-sol"}`}
	args := map[string][]string{"claude": nil, "codex": append(known, "--arg=-s", "--arg=danger-full-access")}
	for _, kind := range []string{"claude", "codex"} {
		task := strings.ReplaceAll(tasks[kind]+shell, "KIND", kind)
		s, code := b.start(kind, kind, task, append(args[kind], "--dir", b.dir, "--scope", "api/**", "--scope", "!api/gen/**")...)
		if code != 0 {
			t.Fatalf("%s: exit code %d, %s\n%s", kind, code, s.Delivery, b.scene())
		}
		b.finishes(kind, "tried it")
		talk := b.log(kind, "Your task is in this file: "+b.copyOf(kind))
		if n := strings.Count(talk, "is outside your scope"); n < 3 {
			t.Errorf("%s: refused %d times\n%s", kind, n, talk)
		}
		if !strings.Contains(talk, "what is typed into bash") { // no hook would see that
			t.Errorf("%s: a shell was started to type into\n%s", kind, talk)
		}
		for name, want := range map[string]bool{"api/tool-": true, "api/shell-": true, "web/tool-": false, "web/shell-": false, "web/patch-": false, "api/gen/tool-": false} {
			if _, err := os.Stat(filepath.Join(b.dir, name+kind)); (err == nil) != want {
				t.Errorf("%s%s: %v\n%s", name, kind, err, talk)
			}
		}
		if w := b.worker(kind); !slices.Equal(w.OutsideScope, []string{"web/slipped-" + kind}) {
			t.Errorf("%s: outside its scope: %q %s", kind, w.OutsideScope, w.OutsideUnchecked)
		}
	}
}

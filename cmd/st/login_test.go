package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func getenvOf(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

var loginVars = [][2]string{{"ST_HOME", `/h/a "b" 100%\$x`}, {"PATH", "/bin:/o p/bin"}}

func TestSystemdUnit(t *testing.T) {
	s := systemdService("st", "/o p/$st", loginVars, getenvOf(map[string]string{"HOME": "/h"}))
	for _, line := range []string{
		`Environment="ST_HOME=/h/a \"b\" 100%%\\$x"`, `Environment="PATH=/bin:/o p/bin"`, `ExecStart="/o p/$$st" up`, "KillMode=process", "WantedBy=default.target", "Type=oneshot",
	} {
		if !strings.Contains(s.text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, s.text)
		}
	}
	if s.path != "/h/.config/systemd/user/st.service" {
		t.Errorf("it lies at %s", s.path)
	}
	if s := systemdService("st", "/st", nil, getenvOf(map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"})); s.path != "/x/systemd/user/st.service" {
		t.Errorf("with XDG_CONFIG_HOME it lies at %s", s.path)
	}
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // the system's own reader of units is not here
	}
	file := filepath.Join(t.TempDir(), "st.service")
	s = systemdService("st", "/bin/true", loginVars, getenvOf(map[string]string{"HOME": "/h"}))
	if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(verify, "verify", "--user", file)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "st.service") {
		t.Errorf("systemd says: %s", out)
	}
}

func TestLaunchdPlist(t *testing.T) {
	s := launchdService("st-1", "/o p/<st>&", loginVars, getenvOf(map[string]string{"HOME": "/Users/dev"}))
	if s.path != "/Users/dev/Library/LaunchAgents/sophonz.st-1.plist" {
		t.Errorf("it lies at %s", s.path)
	}
	var words []string
	for dec := xml.NewDecoder(strings.NewReader(s.text)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.text)
		}
		if text, ok := tok.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			words = append(words, string(text))
		}
	}
	want := `Label|sophonz.st-1|ProgramArguments|/o p/<st>&|up|EnvironmentVariables|ST_HOME|/h/a "b" 100%\$x|PATH|/bin:/o p/bin|RunAtLoad|AbandonProcessGroup`
	if got := strings.Join(words, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLoginService: written, enabled and taken away by the system's own command; twice is once, and what is not ours stays.
func TestLoginService(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$@\" >>" + log + "\ncase \"$2\" in is-enabled) test -e " + dir + "/on;; enable) touch " + dir + "/on;; disable) rm " + dir + "/on;; esac\n"
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := systemdService("st", "/st", loginVars, getenvOf(map[string]string{"HOME": dir}))
	for i, want := range []bool{true, false} {
		if changed, err := s.put(t.Context()); err != nil || changed != want {
			t.Errorf("put %d: %v, %v", i, changed, err)
		}
	}
	s.text += "# newer\n"
	if is, err := s.state(t.Context()); err != nil || is.Current || !is.Enabled {
		t.Errorf("of an older st: %+v, %v", is, err)
	}
	if changed, err := s.put(t.Context()); err != nil || !changed {
		t.Errorf("upgraded: %v, %v", changed, err)
	}
	for i, want := range []bool{true, false} {
		if changed, err := s.remove(t.Context()); err != nil || changed != want {
			t.Errorf("remove %d: %v, %v", i, changed, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, ".config")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.path), 0o700), os.WriteFile(s.path, []byte("[Unit]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.put(t.Context()); err == nil {
		t.Error("somebody else's file was overwritten")
	}
	if _, err := s.remove(t.Context()); err == nil {
		t.Error("somebody else's file was removed")
	}
}

func TestLoginName(t *testing.T) {
	vars := map[string]string{"HOME": "/h", "ST_HOME": "/h/.sophonz"}
	if got := loginName("/h/.sophonz", getenvOf(vars)); got != "st" {
		t.Errorf("the usual home: %q", got)
	}
	if a, b := loginName("/x", getenvOf(vars)), loginName("/y", getenvOf(vars)); a == b || !strings.HasPrefix(a, "st-") {
		t.Errorf("others: %q, %q", a, b)
	}
}

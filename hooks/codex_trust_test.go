package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// configTexts are config.toml as people and Codex write it. HOOKS stands for the hooks file.
var configTexts = map[string]string{
	"empty":             "",
	"no final newline":  "model = \"x\"",
	"as Codex":          "model = \"x\" # mine\n\n[hooks.state]\n\n[hooks.state.\"HOOKS:stop:0:0\"]\ntrusted_hash = \"sha256:f0\"\n\n[hooks.state.\"HOOKS:stop:0:1\"]\nenabled = false\ntrusted_hash = \"sha256:f1\"\n",
	"CRLF":              "model = \"x\"\r\n\r\n[tui]\r\ntheme = \"dark\"\r\n",
	"mark":              "\ufeffmodel = \"x\"\n",
	"odd":               "a = nan\nb = 1_000\n# [hooks.state]\nd = '''\n[hooks.state.\"no\"]\n'''\n\n\n",
	"blank":             "\n \n",
	"only a comment":    "# mine",
	"as Codex at first": "model = \"x\"\n\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n\n[tui.model_availability_nux]\n\"x\" = 1\n",
	"dotted keys":       "tui.theme = \"dark\"\nmcp_servers.a.command = \"x\"\nmcp_servers.a.args = [\n  \"[hooks]\", # no\n]\n",
	"inline tables":     "shell_environment_policy = { set = { A = \"1\" } }\n[[skills]]\npath = \"x\"\n[[skills]]\npath = \"y\"",
	"tabs":              "[tui]\n\ttheme = \"dark\"\t# mine\n\t[tui.keys]\n\ta = 1\n\n",
	"other home":        "[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:e\"\n# last",
}

const foreignStop = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]}}`

// TestConfigRoundTrip wants every byte of config.toml back, and meanwhile our hooks trusted.
func TestConfigRoundTrip(t *testing.T) {
	for name, text := range configTexts {
		t.Run(name, func(t *testing.T) {
			k, s := newSettings(t, "codex")
			files := k.Files(s.Folder)
			text := strings.ReplaceAll(text, "HOOKS", files[0])
			writeFile(t, files[0], foreignStop)
			writeFile(t, files[1], text)
			leavesNoTrace(t, "codex", s, func() { roundTrip(t, k, s) })
		})
	}
}

// TestTrustMovesAlong: a person's hooks that came after ours keep their trust when ours go, in our group and in
// groups of their own; so does one that a person has switched off.
func TestTrustMovesAlong(t *testing.T) {
	k, s := newSettings(t, "codex")
	files := k.Files(s.Folder)
	ourCall := callJSON("/old/st hook codex", "10")
	writeFile(t, files[0], `{"hooks": {"Stop": [{"hooks": [`+ourCall+`, {"type": "command", "command": "x"}]}, {"hooks": [{"type": "command", "command": "y"}]}],
 "Interrupt": [{"hooks": [ `+ourCall+`]}, {"hooks": [{"type": "command", "command": "z"}]}]}}`)
	table := func(at, rest string) string { return "\n[hooks.state.\"" + files[0] + ":" + at + "\"]\n" + rest + "\n" }
	writeFile(t, files[1], "model = \"x\"\n"+table("stop:0:0", `trusted_hash = "ours"`)+table("stop:0:1", `trusted_hash = "x"`)+
		table("stop:1:0", `trusted_hash = "y"`)+table("interrupt:0:0", `trusted_hash = "ours"`)+table("interrupt:1:0", "enabled = false\ntrusted_hash = \"z\" # mine"))
	apply(t, k, s, k.Uninstall)
	want := "model = \"x\"\n" + table("stop:0:0", `trusted_hash = "x"`) + table("stop:1:0", `trusted_hash = "y"`) +
		table("interrupt:0:0", "enabled = false\ntrusted_hash = \"z\" # mine")
	if got := string(readFile(t, files[1])); got != want {
		t.Errorf("config.toml is\n%s\nwant\n%s\nhooks.json is\n%s", got, want, readFile(t, files[0]))
	}
}

// TestTrustKeepsSwitchedOff: trusting a hook anew does not switch it on.
func TestTrustKeepsSwitchedOff(t *testing.T) {
	k, s := newSettings(t, "codex")
	files := k.Files(s.Folder)
	apply(t, k, s, k.Install)
	text := string(readFile(t, files[1]))
	head := codexHead(files[0]+":stop:0:0") + "\n"
	writeFile(t, files[1], strings.Replace(text, head, head+"enabled = false\n", 1))
	s.Self = oldSt
	apply(t, k, s, k.Install)
	var got map[string]any
	if err := toml.Unmarshal(readFile(t, files[1]), &got); err != nil {
		t.Fatal(err)
	}
	stop := state(got, files[0]+":stop:0:0")
	if stop["enabled"] != false || !strings.HasPrefix(stop["trusted_hash"].(string), "sha256:") {
		t.Errorf("the state is %v", stop)
	}
	in, err := LookAt(k, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range in.Events {
		if *e.Trusted == (e.Event == "Stop") {
			t.Errorf("%s: trusted %v", e.Event, *e.Trusted)
		}
	}
}

// TestCodexFolder: Codex follows the links of CODEX_HOME, and none of HOME, when it names the keys of its trust.
func TestCodexFolder(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err) // a system where only some may make links
	}
	for name, want := range map[string]string{"CODEX_HOME": real, "HOME": filepath.Join(link, ".codex")} {
		got, err := codexInstall{}.Folder(func(n string) string {
			if n == name {
				return link
			}
			return ""
		})
		if err != nil || got != want {
			t.Errorf("%s=%s: got %s, %v, want %s", name, link, got, err, want)
		}
	}
}

package daemon

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"st/orch"
)

func TestConfig(t *testing.T) {
	cases := []struct {
		name, text string
		want       config
		err        string
	}{
		{"empty", "", config{}, ""},
		{"all keys", "pass_env = ['A', 'B']\n[agents_may]\nargs = ['--x']\nenv = true\ndemo_run = true\n",
			config{AgentsMay: agentsMay{Args: []string{"--x"}, Env: true, DemoRun: true}, PassEnv: []string{"A", "B"}}, ""},
		{"unknown key", "[agents_may]\nenvv = true\n", config{}, "unknown key agents_may.envv"},
		{"two unknown keys", "zeal = 1\n[other]\na = 1\n", config{}, "unknown key other, other.a, zeal"},
		{"wrong type", "[agents_may]\nenv = 'yes'\n", config{}, "env"},
		{"no toml", "][", config{}, "line 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readConfig(home)
			if c.err == "" {
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Fatalf("got %+v, %v; want %+v", got, err, c.want)
				}
				return
			}
			refusal, ok := err.(*orch.Error)
			if !ok || refusal.Code != "config_bad" || !strings.Contains(refusal.Message, c.err) {
				t.Fatalf("got %v, want config_bad with %q", err, c.err)
			}
		})
	}
}

func TestConfigMissingIsEmpty(t *testing.T) {
	got, err := readConfig(t.TempDir())
	if err != nil || !reflect.DeepEqual(got, config{}) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

package daemon

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"st/orch"
)

func TestConfig(t *testing.T) {
	minute := func(silence, reminder int) limits {
		l := defaultConfig().Limits
		l.Silence, l.Reminder = duration(silence)*duration(time.Minute), duration(reminder)*duration(time.Minute)
		return l
	}
	cases := []struct {
		name, text string
		want       config
		err        string
	}{
		{"empty", "", defaultConfig(), ""},
		{"all keys", "pass_env = ['A', 'B']\nmax_workers = 5\nmax_depth = 3\nmax_chain = 6\nrestore = 'auto'\n[agents_may]\nargs = ['--x']\nenv = true\ndemo_run = true\nsetup = true\ncheck = true\n[limits]\nsilence = '1h30m'\nreminder = '60s'\n",
			config{Restore: restoreAuto, AgentsMay: agentsMay{Args: []string{"--x"}, Env: true, DemoRun: true, Setup: true, Check: true}, PassEnv: []string{"A", "B"}, MaxWorkers: 5, MaxDepth: 3, MaxChain: 6, Limits: minute(90, 1)}, ""},
		{"switched off", "[limits]\nsilence = '0s'\nreminder = '0'\n", config{Restore: restoreAsk, MaxDepth: 2, MaxChain: 4, Limits: minute(0, 0)}, ""},
		{"restore otherwise", "restore = 'on'", config{}, "restore: \"on\" is none of auto, ask, off"},
		{"git and what is run", "worktrees = '/w'\n[limits]\ngit = '1m'\nsetup = '1m'\ncheck = '0s'\nsilence = '0s'\nreminder = '0s'\n",
			config{Restore: restoreAsk, MaxDepth: 2, MaxChain: 4, Worktrees: "/w", Limits: limits{Git: duration(time.Minute), Setup: duration(time.Minute)}}, ""},
		{"a place that moves", "worktrees = 'trees'\n", config{}, `"trees" is no absolute path`},
		{"unknown key", "[agents_may]\nenvv = true\n", config{}, "unknown key agents_may.envv"},
		{"two unknown keys", "zeal = 1\n[other]\na = 1\n", config{}, "unknown key other, other.a, zeal"},
		{"wrong type", "[agents_may]\nenv = 'yes'\n", config{}, "env"},
		{"fewer than none", "max_workers = -1", config{}, "max_workers: -1 is negative"},
		{"no level", "max_depth = 0", config{}, "max_depth: 0 leaves no level of workers at all"},
		{"fewer levels than none", "max_chain = -1", config{}, "max_chain: -1 leaves no level of workers at all"},
		{"workers in words", "max_workers = 'five'", config{}, "max_workers"},
		{"no duration", "[limits]\nsilence = '30'\n", config{}, "limits.silence"},
		{"number for a duration", "[limits]\nreminder = 20\n", config{}, "limits.reminder"},
		{"negative duration", "[limits]\nreminder = '-1s'\n", config{}, "limits.reminder"},
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
	if err != nil || !reflect.DeepEqual(got, defaultConfig()) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

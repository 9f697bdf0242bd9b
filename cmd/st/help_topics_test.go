package main

import (
	"slices"
	"strings"
	"testing"

	"st/orch/daemon"
)

// TestTopics parses each command of the topics as the program itself does, and holds that all are listed and short.
func TestTopics(t *testing.T) {
	if len(topics()) < 10 {
		t.Errorf("only %v", topics())
	}
	commands := 0
	for _, name := range topics() {
		text := topic(name)
		for _, m := range guided.FindAllStringSubmatch(text, -1) {
			commands++
			command := strings.TrimSuffix(m[1]+m[2], " --help")
			for _, miss := range missing(t, command, m[1] != "") {
				t.Errorf("%s: %q: there is no %s", name, m[0], miss)
			}
		}
		lines := strings.Split(text, "\n")
		if len(lines) > 45 || lines[1] != "" || strings.Contains(text, "{{") {
			t.Errorf("%s: %d lines, the second is %q", name, len(lines), lines[1])
		}
		for _, l := range lines {
			if len([]rune(l)) > 140 {
				t.Errorf("%s: a line of %d characters: %s", name, len([]rune(l)), l)
			}
		}
		if !strings.Contains(listTopics(), "  "+name+" ") {
			t.Errorf("%s is not listed", name)
		}
	}
	if commands < 50 {
		t.Errorf("only %d commands", commands)
	}
}

// TestConfigIsTold: the topic has each key of config.toml, and no other.
func TestConfigIsTold(t *testing.T) {
	var told []string
	for _, l := range strings.Split(topic("config"), "\n") {
		if words := strings.Fields(l); strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "   ") && len(words) > 1 {
			told = append(told, words[0])
		}
	}
	keys := daemon.ConfigKeys()
	slices.Sort(told)
	slices.Sort(keys)
	if !slices.Equal(told, keys) {
		t.Errorf("it tells %v\nthere are %v", told, keys)
	}
}

// TestTopicsTellTheStates: each state of a worker and each status of a task stands in its topic.
func TestTopicsTellTheStates(t *testing.T) {
	for name, words := range map[string][]string{
		"workers": {"queued", "running", "needs_input", "finished", "failed", "no_report", "gone"},
		"tasks":   {"pending", "ready", "dispatched", "completed", "failed", "blocked", "cancelled"},
	} {
		for _, w := range words {
			if !strings.Contains(topic(name), w) {
				t.Errorf("%s: nothing of %s", name, w)
			}
		}
	}
}

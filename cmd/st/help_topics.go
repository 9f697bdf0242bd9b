package main

import (
	"embed"
	"fmt"
	"strings"
)

// helpTexts are the topics, each a file. The first line says what it is about.
//
//go:embed help
var helpTexts embed.FS

// topics are their names, as they are listed.
func topics() []string {
	entries, err := helpTexts.ReadDir("help")
	if err != nil {
		return nil // can't be: it is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}

// topic is the text on one, "" where there is none of that name.
func topic(name string) string {
	raw, err := helpTexts.ReadFile("help/" + name + ".md")
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(raw), "{{codes}}\n", exitTable())
}

// exitTable is what each exit code means.
func exitTable() string {
	var b strings.Builder
	for code := range exitInterrupted + 1 {
		if says := meaning(code); says != "" {
			fmt.Fprintf(&b, "  %-4d %s\n", code, says)
		}
	}
	return b.String()
}

func listTopics() string {
	var b strings.Builder
	b.WriteString("topics, st help TOPIC:\n")
	for _, name := range topics() {
		about, _, _ := strings.Cut(topic(name), "\n")
		fmt.Fprintf(&b, "  %-18s %s\n", name, about)
	}
	return b.String()
}

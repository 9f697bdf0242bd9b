package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// showHelp prints the help of a verb, or the list of verbs.
func showHelp(out *printer, l line) error {
	text := listVerbs(strings.Join(l.words, " "))
	if l.verb != nil {
		text = helpOf(l.verb)
	}
	if out.json {
		return out.data(map[string]any{"help": text})
	}
	return out.say("%s", block(strings.TrimSuffix(text, "\n")))
}

func helpOf(v *verb) string {
	var b strings.Builder
	fmt.Fprintf(&b, "st %s: %s\n\nusage: %s\n", v.path(), v.about, v.usage())
	if v.help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(v.help))
	}
	if v.more != nil {
		fmt.Fprintf(&b, "\n%s\n", v.more())
	}
	b.WriteString("\nflags, before or after arguments:\n")
	for _, f := range v.allFlags() {
		d := f.(cli.DocGenerationFlag)
		name := strings.TrimSpace("--" + f.Names()[0] + " " + placeholder(f))
		usage := strings.TrimSuffix(d.GetUsage(), ": `"+placeholder(f)+"`") // it stands there already
		fmt.Fprintf(&b, "  %-22s %s\n", name, strings.ReplaceAll(usage, "`", ""))
	}
	b.WriteString("\nexit codes:\n")
	for _, code := range v.exitCodes() {
		fmt.Fprintf(&b, "  %-4d %s\n", code, meaning(code))
	}
	return b.String()
}

// exitCodes are all that the verb can end with, in order.
func (v *verb) exitCodes() []int {
	codes := append([]int{exitDone, exitFailed, exitUsage, exitUnreachable}, v.codes...)
	if v.sends != nil {
		codes = append(codes, exitRefused) // a request id that stands for something else
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func listVerbs(noun string) string {
	var b strings.Builder
	if noun == "" {
		b.WriteString("st hands work to coding agents in the windows of tmux, waits for them and reads what they did.\n\n")
	}
	b.WriteString("verbs:\n")
	for _, v := range sorted() {
		if !v.hidden && (noun == "" || v.noun == noun) {
			fmt.Fprintf(&b, "  %-18s %s\n", v.path(), v.about)
		}
	}
	b.WriteString("\nst VERB --help tells flags and exit codes, st help how it all works.\n")
	return b.String()
}

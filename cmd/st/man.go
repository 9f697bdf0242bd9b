package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

var manVerb = &verb{
	name: "man", about: "the manual page, in the form that man reads",
	help: "scripts/install puts it in its place. To look at it here: st man | man -l -",
	run:  man,
}

func init() { register(manVerb) }

func man(c *call) (int, error) {
	page := manPage()
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"page": page})
	}
	return exitDone, c.out.write([]byte(page))
}

// manPage is made of what the verbs say of themselves and of the topics: nothing stands in it that is not in the program.
func manPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH ST 1 \"\" %s \"User Commands\"\n", roffWord("st "+version))
	b.WriteString(".SH NAME\nst \\- hand work to coding agents in the windows of tmux\n")
	b.WriteString(".SH SYNOPSIS\n.B st\n.I VERB\n[\\fIflags\\fR] [\\fIarguments\\fR]\n.br\n.B st help\n[\\fITOPIC\\fR]\n")
	b.WriteString(".SH VERBS\nFlags stand before or after arguments. Each verb also takes \\fB\\-\\-json\\fR, \\fB\\-\\-run\\fR \\fIR\\fR,\n" +
		"\\fB\\-\\-as\\fR \\fIAGENT|%PANE\\fR and \\fB\\-\\-help\\fR.\n")
	for _, v := range sorted() {
		if !v.hidden {
			b.WriteString(v.roff())
		}
	}
	b.WriteString(".SH EXIT STATUS\n.nf\n" + roff(exitTable()) + ".fi\n")
	for _, name := range topics() {
		about, text, _ := strings.Cut(topic(name), "\n")
		fmt.Fprintf(&b, ".SH %s\n%s\n.PP\n.nf\n%s.fi\n", roffWord(strings.ToUpper("about "+name)), roff(about), roff(strings.TrimLeft(text, "\n")))
	}
	b.WriteString(".SH SEE ALSO\n.BR tmux (1)\n")
	return b.String()
}

// roff is a verb as a paragraph with a tag.
func (v *verb) roff() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", roff(v.usage()), roff(v.about))
	if v.help != "" {
		fmt.Fprintf(&b, "%s\n", roff(v.help))
	}
	flags := v.own()
	if len(flags) > 0 {
		b.WriteString(".RS\n")
	}
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(strings.TrimSpace("--"+f.Names()[0]+" "+placeholder(f))), roff(strings.ReplaceAll(d.GetUsage(), "`", "")))
		}
	}
	if len(flags) > 0 {
		b.WriteString(".RE\n")
	}
	return b.String()
}

// roff escapes a text: no sign of it is a command, and a hyphen is the one that people type.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// roffWord is one argument of a roff command.
func roffWord(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }

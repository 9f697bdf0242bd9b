package main

import (
	"encoding/csv"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// What verbs are given to hand on: texts and options.

// writing is the text that a verb hands on, from its second argument or from --file; what is how a message calls it.
func (c *call) writing(what string) (string, error) {
	switch {
	case c.IsSet("file") && len(c.arguments) > 1:
		return "", c.misuse("%s: TEXT and --file exclude each other", c.verb.path())
	case !c.IsSet("file") && len(c.arguments) < 2:
		return "", c.misuse("%s: TEXT or --file is missing", c.verb.path())
	}
	text := c.arg(1)
	if c.IsSet("file") {
		var err error
		if text, err = c.textFile("file"); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", c.misuse("%s: %s is empty", c.verb.path(), what)
	}
	if why := unfit(text); why != "" {
		return "", c.misuse("%s: %s: %s", c.verb.path(), what, why)
	}
	return text, nil
}

// textFile reads the file that a flag names. An agent may run the verb without asking anybody: it hands on only what lies
// below its folder.
func (c *call) textFile(flag string) (string, error) {
	file, err := c.text(flag)
	if err != nil {
		return "", err
	}
	if err := mayReport(file); err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	return readText(file)
}

// options reads --options, each value a line of CSV.
func (c *call) options() ([]string, error) {
	var all []string
	for _, given := range c.StringSlice("options") {
		r := csv.NewReader(strings.NewReader(given))
		r.TrimLeadingSpace = true
		rows, err := r.ReadAll()
		var parse *csv.ParseError
		switch {
		case errors.As(err, &parse):
			return nil, c.misuse("%s: --options %s: %v; one with a comma or quotes in it is written \"a, \"\"b\"\"\"", c.verb.path(), quoted(given), parse.Err)
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, c.misuse("%s: --options is empty", c.verb.path())
		case len(rows) > 1:
			return nil, c.misuse("%s: --options %s: it has several lines", c.verb.path(), quoted(given))
		}
		for _, o := range rows[0] {
			o = strings.TrimSpace(o)
			switch {
			case o == "":
				return nil, c.misuse("%s: --options %s: one of them is empty", c.verb.path(), quoted(given))
			case strings.ContainsAny(o, "\r\n"):
				return nil, c.misuse("%s: --options: %s has more than one line", c.verb.path(), quoted(o))
			case unfit(o) != "" || len(o) > optionMax:
				return nil, c.misuse("%s: --options: one of them is no text of at most %d bytes", c.verb.path(), optionMax)
			case slices.Contains(all, o):
				return nil, c.misuse("%s: --options: %s is there twice", c.verb.path(), quoted(o))
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// optionMax is the longest option, in bytes.
const optionMax = 1 << 10

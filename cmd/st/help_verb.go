package main

import (
	"fmt"
	"strings"
)

var helpVerb = &verb{
	name: "help", args: "[TOPIC]", max: -1, about: "how st works, a topic at a time; without TOPIC the list of them",
	help: "TOPIC may also be a verb: st help worker start tells the same as st worker start --help.",
	run:  help,
}

func init() { register(helpVerb) }

func help(c *call) (int, error) {
	text, err := c.helpAbout(strings.Join(c.arguments, " "))
	if err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"help": text, "topics": topics()})
	}
	return exitDone, c.out.say("%s", block(strings.TrimSuffix(text, "\n")))
}

// helpAbout is the text on a topic, on a verb, or on the verbs of a noun.
func (c *call) helpAbout(words string) (string, error) {
	if words == "" {
		return listTopics() + "\n" + listVerbs(""), nil
	}
	if text := topic(words); text != "" {
		return text, nil
	}
	noun, name, _ := strings.Cut(words, " ")
	switch {
	case find("", words) != nil:
		return helpOf(find("", words)), nil
	case find(noun, name) != nil:
		return helpOf(find(noun, name)), nil
	case isNoun(words):
		return listVerbs(words), nil
	}
	return "", &usageError{message: fmt.Sprintf("help: there is no topic and no verb %q", words), next: []string{"st help"}}
}

package main

import "st/plugin"

var skillsLsVerb = &verb{
	noun: "skills", name: "ls", about: "the guides for agents that use st",
	help: "Each is a text for a language model, with commands that can be run as they stand: st skills get NAME.",
	run:  skillsLs,
}

func init() { register(skillsLsVerb) }

// shownSkill is a guide as --json shows it.
type shownSkill struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Full  bool   `json:"full,omitempty"`
	Text  string `json:"text,omitempty"`
}

func skillsLs(c *call) (int, error) {
	list := []shownSkill{}
	for _, s := range plugin.Skills() {
		list = append(list, shownSkill{Name: s.Name, About: s.About})
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"skills": list})
	}
	for _, s := range list {
		if err := c.out.say("%-12s %s", s.Name, s.About); err != nil {
			return 0, err
		}
	}
	c.out.note("  st skills get %s", list[0].Name)
	return exitDone, nil
}

package plugin

import "embed"

//go:embed skills
var skillFiles embed.FS

// Skill is a guide for an agent: short recipes with the exact commands.
type Skill struct {
	Name  string // orchestrate
	About string // one line
}

// Skills lists the guides that there are.
func Skills() []Skill {
	return []Skill{
		{"orchestrate", "for an agent that hands tasks to others: start, end your turn, be told, read"},
		{"worker", "for an agent that has been given a task: do it, report, ask"},
	}
}

// Text is a guide, with full also the odd cases and the JSON; "" where there is none of that name.
func (s Skill) Text(full bool) string {
	text := readSkill(s.Name + ".md")
	if full && text != "" {
		text += "\n" + readSkill(s.Name+"_full.md")
	}
	return text
}

// FindSkill is the guide of a name, one without a name where there is none.
func FindSkill(name string) Skill {
	for _, s := range Skills() {
		if s.Name == name {
			return s
		}
	}
	return Skill{}
}

func readSkill(file string) string {
	text, err := skillFiles.ReadFile("skills/" + file)
	if err != nil {
		return "" // of no skill's name; a test reads all that are listed
	}
	return string(text)
}

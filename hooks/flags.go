package hooks

import "strings"

// flagSet are flags of a program by name, each with how many values it takes; many is as many as stand there.
type flagSet map[string]int

const many = -1

// kept are the flags of a set in an argument list, with their values, and the value of the flag that names a model.
func (set flagSet) kept(argv []string, modelFlag string) (model string, args []string) {
	for i := 0; i < len(argv); {
		if argv[i] == "--" {
			break // a prompt
		}
		name, value, joined := strings.Cut(argv[i], "=")
		end := set.end(argv, i)
		switch _, known := set[name]; {
		case name == modelFlag && joined:
			model = value
		case name == modelFlag && i+1 < len(argv):
			model, end = argv[i+1], i+2
		case known:
			args = append(args, argv[i:end]...)
		}
		i = end
	}
	return model, args
}

// without is an argument list without the flags of a set.
func (set flagSet) without(argv []string) (rest []string) {
	for i := 0; i < len(argv); {
		name, _, _ := strings.Cut(argv[i], "=")
		end := set.end(argv, i)
		if _, drop := set[name]; !drop {
			rest = append(rest, argv[i:end]...)
		}
		i = end
	}
	return rest
}

// end is where the argument at i ends, with the values that follow it.
func (set flagSet) end(argv []string, i int) int {
	name, _, joined := strings.Cut(argv[i], "=")
	end := i + 1
	for n := set[name]; !joined && n != 0 && end < len(argv) && !strings.HasPrefix(argv[end], "-"); n-- {
		end++
	}
	return end
}

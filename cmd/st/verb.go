package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

// verb is one thing that st does. Each has a file of its own, whose init registers it. It stands there as a variable:
// what a start needs no code to make costs it nothing, and an agent waits for each of its hooks.
type verb struct {
	noun  string // "worker", "orch", "" for st VERB
	name  string
	args  string            // how its arguments are shown: "[W…]"
	min   int               // fewest arguments
	max   int               // most arguments; -1 = any number
	about string            // one line
	help  string            // what else a reader of --help should know
	more  func() string     // of that, what is made when it is asked for; nil for none
	flags func() []cli.Flag // made anew for each use, as a flag keeps state of its parse; nil for none
	needs []string          // flags that must be given
	codes []int             // exit codes beside 0, 1, 2 and 8
	// sends is the order that the verb gives to the daemon, nil for one that changes nothing there. A verb with an
	// order takes --request.
	sends orch.What
	// hidden verbs are for st itself.
	hidden bool
	// raw, where set, gets its arguments as they are, before flags or output are thought of.
	raw func(args []string) int
	run func(*call) (code int, err error)
}

var verbs []*verb

func register(v *verb) {
	if find(v.noun, v.name) != nil {
		panic("st: two verbs are called " + v.path())
	}
	verbs = append(verbs, v)
}

// find returns the verb of that name, nil where there is none.
func find(noun, name string) *verb {
	i := slices.IndexFunc(verbs, func(v *verb) bool { return v.name == name && v.noun == noun })
	if i < 0 {
		return nil
	}
	return verbs[i]
}

func (v *verb) path() string { return strings.TrimSpace(v.noun + " " + v.name) }

func (v *verb) usage() string {
	line := "st " + v.path()
	for _, f := range v.own() {
		line += " " + v.shown(f)
	}
	if v.args != "" {
		line += " " + v.args
	}
	return line
}

// shown is how a flag stands in a usage line.
func (v *verb) shown(f cli.Flag) string {
	name := "--" + f.Names()[0]
	if value := placeholder(f); value != "" {
		name += " " + value
	}
	if _, ok := f.(*cli.StringSliceFlag); ok {
		return "[" + name + "]…"
	}
	if slices.Contains(v.needs, f.Names()[0]) {
		return name
	}
	return "[" + name + "]"
}

// placeholder is the word for a flag's value, "" for one without.
func placeholder(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok || !d.TakesValue() {
		return ""
	}
	switch f.(type) {
	case *cli.DurationFlag:
		return "D"
	case *cli.IntFlag:
		return "N"
	}
	usage := d.GetUsage()
	if i := strings.IndexByte(usage, '`'); i >= 0 {
		if j := strings.IndexByte(usage[i+1:], '`'); j >= 0 {
			return usage[i+1 : i+1+j]
		}
	}
	return "TEXT"
}

// own are the flags that only this verb has.
func (v *verb) own() []cli.Flag {
	if v.flags == nil {
		return nil
	}
	return v.flags()
}

// everywhere are the flags that every verb has.
func everywhere() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "run", Usage: "the run that is meant: `R`, an id or a name"},
		&cli.StringFlag{Name: "as", Usage: "speak as this agent or pane: `AGENT|%PANE`"},
		&cli.BoolFlag{Name: "json", Usage: "one JSON object on stdout"},
	}
}

func (v *verb) allFlags() []cli.Flag {
	flags := v.own()
	if v.sends != nil {
		flags = append(flags, &cli.StringFlag{Name: "request", Usage: "do it once, however often it is asked under this `ID`"})
	}
	return append(flags, everywhere()...)
}

// dispatch finds the verb that args name and runs it.
func dispatch(ctx context.Context, args []string, out *printer) (int, error) {
	line, err := order(args)
	out.json = line.json
	if err != nil {
		return 0, err
	}
	if line.help {
		return exitDone, showHelp(out, line)
	}
	var code int
	app := newApp(ctx, line.verb, out, &code)
	err = app.RunContext(ctx, append([]string{"st"}, line.argv()...))
	return code, err
}

// newApp is a program that has one verb, the one that is meant: all others would only be made to be left alone.
func newApp(ctx context.Context, v *verb, out *printer, code *int) *cli.App {
	app := &cli.App{
		Name: "st", HideHelp: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(*cli.Context, error) {}, // run alone decides how the process ends
		Commands:       []*cli.Command{command(ctx, v, out, code)},
	}
	if v.noun != "" {
		app.Commands = []*cli.Command{{Name: v.noun, HideHelp: true, Subcommands: app.Commands}}
	}
	return app
}

func command(ctx context.Context, v *verb, out *printer, code *int) *cli.Command {
	return &cli.Command{
		Name: v.name, Flags: v.allFlags(), HideHelp: true,
		OnUsageError: func(_ *cli.Context, err error, _ bool) error { return misuse(v, "%v", err) },
		Action: func(c *cli.Context) error {
			if v.run == nil {
				return misuse(v, "%s is not called this way", v.name)
			}
			if err := v.count(c.Args().Len()); err != nil {
				return err
			}
			if home, err := daemon.Home(os.Getenv); err == nil { // else the verb tells why
				hooks.UseHome(home)
			}
			called := &call{Context: c, ctx: ctx, verb: v, out: out, arguments: c.Args().Slice()}
			err := called.takeRequest()
			if err == nil {
				*code, err = v.run(called)
			}
			if !v.hidden {
				tellLost(called)
			}
			return err
		},
	}
}

// count refuses a wrong number of arguments.
func (v *verb) count(n int) error {
	switch {
	case n < v.min:
		return misuse(v, "%s: %s is missing", v.path(), strings.Trim(v.args, "[]"))
	case v.max >= 0 && n > v.max:
		return misuse(v, "%s takes %s, not %d", v.path(), arguments(v.max), n)
	}
	return nil
}

// arguments says how many a verb takes at most.
func arguments(most int) string {
	switch most {
	case 0:
		return "no argument"
	case 1:
		return "one argument"
	}
	return fmt.Sprintf("at most %d arguments", most)
}

func sorted() []*verb {
	all := slices.Clone(verbs)
	sort.Slice(all, func(i, j int) bool { return all[i].path() < all[j].path() })
	return all
}

// line is a command line in order: the verb, then its flags, then its arguments.
type line struct {
	words []string // noun and verb, as far as they were given
	verb  *verb
	flags []string // --name=value
	args  []string
	json  bool
	help  bool
}

func (l line) argv() []string {
	argv := append(slices.Clone(l.words), l.flags...)
	return append(append(argv, "--"), l.args...)
}

// order puts flags before arguments, wherever they stood, since the parser stops at the first argument. It
// refuses what no verb declares.
func order(args []string) (line, error) {
	l := line{json: wantsJSON(args), help: len(args) == 0}
	var flags []string // raw, as name and value: which are allowed is known once the verb is
	ended := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case !ended && arg == "--":
			ended = true
		case !ended && (arg == "--help" || arg == "-h"):
			l.help = true
		case !ended && arg == "--version" && len(l.words) == 0:
			l.word("version")
		case !ended && len(arg) > 1 && arg[0] == '-':
			flag, took := l.flag(arg, args[i+1:])
			flags = append(flags, flag)
			if took {
				i++
			}
		case !ended && l.verb == nil && l.word(arg):
		default:
			l.args = append(l.args, arg)
		}
	}
	if l.help {
		return l, l.checkWords()
	}
	if err := l.checkWords(); err != nil {
		return l, err
	}
	if l.verb == nil {
		return l, l.noVerb(flags)
	}
	l.flags = flags
	return l, l.checkFlags()
}

// noVerb refuses a line that names no verb: its first flag, where it has one that no verb declares.
func (l *line) noVerb(flags []string) error {
	so := strings.Join(append([]string{"st"}, l.words...), " ")
	message := so + ": which verb?"
	for _, given := range flags {
		name, _, _ := strings.Cut(given, "=")
		if l.lookup(strings.TrimPrefix(name, "--")) == nil {
			message = so + " has no flag " + name
			break
		}
	}
	return &usageError{message: message, next: []string{so + " --help"}}
}

// wantsJSON tells whether even a refusal of the line itself has to be JSON.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// word takes a part of the verb's name.
func (l *line) word(arg string) bool {
	noun := strings.Join(l.words, " ")
	if v := find(noun, arg); v != nil {
		l.words, l.verb = append(l.words, arg), v
		return true
	}
	if noun == "" && isNoun(arg) {
		l.words = append(l.words, arg)
		return true
	}
	return false
}

func isNoun(word string) bool {
	for _, v := range verbs {
		if v.noun != "" && v.noun == word {
			return true
		}
	}
	return false
}

// flag joins a flag with its value, and tells whether the value was the next argument. A value may begin
// with a dash.
func (l *line) flag(arg string, rest []string) (joined string, took bool) {
	name, _, has := strings.Cut(arg, "=")
	f := l.lookup(strings.TrimPrefix(name, "--"))
	if has || f == nil || placeholder(f) == "" || len(rest) == 0 {
		return arg, false
	}
	return arg + "=" + rest[0], true
}

// lookup finds a flag of the verb; before the verb is known, of any verb: a name means one type everywhere, or stands
// for a switch there.
func (l *line) lookup(name string) cli.Flag {
	all := everywhere()
	if l.verb != nil {
		all = l.verb.allFlags()
	} else {
		for _, v := range verbs {
			all = append(all, v.allFlags()...)
		}
	}
	var found cli.Flag
	for _, f := range all {
		if _, isSwitch := f.(*cli.BoolFlag); f.Names()[0] == name && (found == nil || isSwitch) {
			found = f
		}
	}
	return found
}

func (l *line) checkWords() error {
	if l.verb != nil || len(l.args) == 0 {
		return nil
	}
	words := strings.Join(append(l.words, l.args[0]), " ")
	return &usageError{message: fmt.Sprintf("no verb is called %q", words), next: []string{"st " + strings.Join(append(l.words, "--help"), " ")}}
}

func (l *line) checkFlags() error {
	for _, given := range l.flags {
		name, value, has := strings.Cut(given, "=")
		f := l.lookup(strings.TrimPrefix(name, "--"))
		switch {
		case f == nil || !strings.HasPrefix(name, "--"):
			return misuse(l.verb, "%s has no flag %s", l.verb.path(), name)
		case placeholder(f) != "" && !has:
			return misuse(l.verb, "%s wants a value: %s", name, placeholder(f))
		}
		if err := l.checkValue(f, name, value, has); err != nil {
			return err
		}
	}
	return nil
}

func (l *line) checkValue(f cli.Flag, name, value string, has bool) error {
	switch f.(type) {
	case *cli.DurationFlag:
		d, err := time.ParseDuration(value)
		if err != nil {
			return misuse(l.verb, "%s: %q is not a length of time such as 90s or 15m", name, value)
		}
		if d < 0 {
			return misuse(l.verb, "%s: %s is before now", name, value)
		}
	case *cli.IntFlag:
		n, err := strconv.Atoi(value)
		if err != nil {
			return misuse(l.verb, "%s: %q is not a number", name, value)
		}
		if n < 0 {
			return misuse(l.verb, "%s: %d is negative", name, n)
		}
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(value); has && err != nil {
			return misuse(l.verb, "%s takes no value", name)
		}
	}
	return nil
}

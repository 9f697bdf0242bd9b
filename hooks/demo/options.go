package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the command line of the agent.
type options struct {
	Settings string // file with hook settings, "" for none
	Folder   string // of the conversations' logs, "" for where they are by default
	Log      string // file to which every submitted line and every decision is written, "" for none
	Model    string
	Resume   string // id of the conversation to take up again
	Session  string // id for the new conversation, "" = a fresh one
	Prompt   string // submitted at the start
	Nasty    nasty
}

// nasty holds the modes that are on, with what follows their "=".
type nasty map[string]string

var modes = []string{
	"slow-mount", "enter-swallowed", "draft", "no-hooks", "no-start-hook", "late-hook", "trust", "login", "api-key",
	"auto-mode", "limit", "dies-at-start", "dies-in-turn", "silent", "hang", "scroll", "paste-slow", "esc-quiet",
	"no-report", "freezes", "dies-when-told", "esc-when-told", "ask-short",
}

func parseOptions(args []string, out io.Writer) (options, error) {
	o := options{Nasty: nasty{}}
	var list, script string
	f := flag.NewFlagSet("st "+Verb, flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.Settings, "settings", "", "`FILE` with hook settings")
	f.StringVar(&o.Folder, "folder", "", "`DIR` of the conversations' logs")
	f.StringVar(&o.Log, "log", "", "`FILE` to which submitted lines and decisions are written")
	f.StringVar(&script, "script", "", "`FILE` with nasty modes, one a line")
	f.StringVar(&list, "nasty", "", "`MODES`, with commas between: "+strings.Join(modes, " "))
	f.StringVar(&o.Model, "model", "lines", "`NAME` to show")
	f.StringVar(&o.Resume, "resume", "", "`ID` of a conversation")
	f.StringVar(&o.Session, "session-id", "", "`ID` for the new conversation")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.Resume != "" && o.Session != "" {
		return o, errors.New("--resume and --session-id exclude each other")
	}
	o.Prompt = strings.Join(f.Args(), " ")
	if list != "" {
		if err := o.Nasty.add(strings.Split(list, ",")); err != nil {
			return o, err
		}
	}
	return o, o.Nasty.read(script)
}

// read adds the modes of a script file: one a line, # begins a remark. A draft with a comma can only be given so.
func (n nasty) read(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var list []string
	for _, row := range strings.Split(string(text), "\n") {
		if row = strings.TrimSpace(row); row != "" && row[0] != '#' {
			list = append(list, row)
		}
	}
	return n.add(list)
}

func (n nasty) add(list []string) error {
	for _, m := range list {
		name, value, _ := strings.Cut(m, "=")
		if !slices.Contains(modes, name) {
			return fmt.Errorf("no nasty mode is called %q (there are %s)", name, strings.Join(modes, " "))
		}
		n[name] = value
		if slices.Contains([]string{"slow-mount", "late-hook", "paste-slow", "dies-at-start", "freezes", "ask-short"}, name) {
			if _, err := strconv.ParseFloat(value, 64); err != nil {
				return fmt.Errorf("nasty mode %s wants a number: %q", name, m)
			}
		}
	}
	return nil
}

func (n nasty) on(name string) bool {
	_, ok := n[name]
	return ok
}

// wait is the value of a mode as a time; 0 where the mode is off.
func (n nasty) wait(name string, unit time.Duration) time.Duration {
	return units(n[name], unit)
}

// code is the value of a mode as an exit status, 1 where it has none.
func (n nasty) code(name string) int {
	code, err := strconv.Atoi(n[name])
	if err != nil {
		return 1
	}
	return code
}

// units reads a number of units; 0 for what is none.
func units(s string, unit time.Duration) time.Duration {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v < 0 {
		return 0
	}
	return time.Duration(v * float64(unit))
}

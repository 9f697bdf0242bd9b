package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"st/hooks"
)

// shellMark stands before what the agent's shell finds: startup files may print whatever they like before it.
const shellMark = "st-doctor-found "

// checkShell asks the shell in which the agent runs commands which st it finds: there the agent reports. Its startup
// files may have made PATH anew, or an alias or a function of that name, and the name also belongs to a terminal
// emulator.
func (p *patient) checkShell(ctx context.Context) finding {
	shell := p.told.Shell(p.lookup, `printf '\n%s%s\n' '`+shellMark+`' "$(command -v st)"`)
	if shell.Argv[0] == "" {
		return fault(nil, "there is no shell that it could use")
	}
	said, err := probe(ctx, p.env, shell.Argv[0], shell.Argv[1:]...)
	how := fmt.Sprintf("%s %s", shell.Argv[0], strings.Join(shell.Argv[1:len(shell.Argv)-1], " "))
	if ctx.Err() != nil {
		return fault(nil, "%s: its startup files do not end within %v", how, p.patience())
	}
	at := strings.LastIndex(said, shellMark)
	if at < 0 {
		return fault(nil, "%s ends before it runs a command: %v", how, err)
	}
	return p.judgeShell(lastLine(said[at+len(shellMark):]), shell)
}

func (p *patient) judgeShell(found string, shell hooks.Shell) finding {
	switch {
	case found == "":
		return fault(p.reachSelf(shell.Startup), "it finds no st, and this is %s", p.self)
	case !filepath.IsAbs(found):
		return fault([]string{"grep -n st " + shellWord(cmp.Or(shell.RC, shell.Startup))}, "st is no program in it but an alias or a function (%s), and this is %s", found, p.self)
	case !sameProgram(found, p.self):
		return fault(p.reachSelf(shell.Startup), "it finds %s, and this is %s", found, p.self)
	}
	return fine("it finds this st")
}

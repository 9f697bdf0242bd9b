package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Examined is a kind that can tell how its program stands on this machine, beyond whether it is there. Its methods
// only read, and run nothing. env looks up the environment that an agent would get.
type Examined interface {
	// Tested returns the oldest and the newest version, both included, with which all that is known here of the
	// program's screens, hooks and logs was measured: "2.1.332".
	Tested() (oldest, newest string)
	// Shell tells how the program runs a command.
	Shell(env func(string) string, command string) Shell
	// Faults are settings, the person's or those of an agent's folder dir, with which no hook of ours runs.
	Faults(env func(string) string, dir string) []Fault
}

// Shell is a command as an agent's program runs it, as far as it decides which programs the command finds.
type Shell struct {
	Argv []string
	// Startup is the person's file in which a line about PATH belongs, and RC the one whose functions and aliases come
	// into every command, "" for none. Neither need exist.
	Startup, RC string
}

// Fault is something in a file that keeps hooks from running.
type Fault struct {
	Path string
	What string // "disableAllHooks is true: no hook runs"
}

// firstShell is the first of candidates, names or paths, that is a program and one of those shells.
func firstShell(candidates, shells []string) string {
	for _, c := range candidates {
		if !slices.Contains(shells, filepath.Base(c)) {
			continue
		}
		if path, err := exec.LookPath(c); err == nil {
			return path
		}
	}
	return ""
}

// rcFile is the file that a shell, bash or zsh, reads when a person types into it.
func rcFile(shell string, env func(string) string) string {
	dir := env("HOME")
	if filepath.Base(shell) == "zsh" && env("ZDOTDIR") != "" {
		dir = env("ZDOTDIR")
	}
	return filepath.Join(dir, "."+filepath.Base(shell)+"rc")
}

// sourced is the beginning of a script that reads a startup file, silently; "" where there is none.
func sourced(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return ". " + ShellWord(path) + " </dev/null >/dev/null 2>&1; "
}

// firstFile is the first of the files in a folder that is there, else the first.
func firstFile(dir string, names ...string) string {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(dir, names[0])
}

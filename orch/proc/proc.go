// Package proc is facts about processes: which ones there are, who started whom, when one ends, who sits at
// the other end of a socket, who owns a terminal. It starts no process to find out, and decides nothing.
//
// A pid alone is never an identity: the system hands it out again. A process is its pid and its start time.
package proc

import (
	"errors"
	"fmt"
)

// Process is one process of the operating system.
type Process struct {
	PID int
	// Start is when it started, in the system's own unit (clock ticks since boot on Linux, microseconds
	// since 1970 on darwin); only ever compared for equality.
	Start uint64
}

// Info is what can be told of a process.
type Info struct {
	Process
	PPID  int
	Group int // process group
	// Exe is the path of the program, "" where it can't be read. On Linux it is the file that really runs
	// (an interpreter, for a script); a file that was replaced since keeps its path.
	Exe  string
	Argv []string // nil where it can't be read
	// Zombie says that it has ended and nobody has asked for its exit status.
	Zombie bool
	// Stopped says that it stands still since a signal told it to, and goes on at SIGCONT.
	Stopped bool
}

// ErrGone says that there is no such process, or no longer.
var ErrGone = errors.New("no such process")

// ErrUnsupported says that this system can't be asked.
var ErrUnsupported = errors.New("facts about processes can't be had on this system")

// chainMax bounds an ancestry. Real ones have about ten links.
const chainMax = 64

// Of returns the identity of a running process. ErrGone where there is none or it has ended.
func Of(pid int) (Process, error) {
	info, err := status(pid)
	if err == nil && info.Zombie {
		err = fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return info.Process, err
}

// Look returns what can be told of a process. ErrGone where there is none.
func Look(pid int) (Info, error) {
	info, err := status(pid)
	if err != nil {
		return Info{}, err
	}
	info.Exe, info.Argv = command(pid)
	return info, nil
}

// Alive reports whether that very process runs. One that has ended but was not waited for does not.
func Alive(p Process) bool {
	now, err := Of(p.PID)
	return err == nil && now == p
}

// Chain returns the ancestry of a process, itself first, up to the first process of the system or to one that
// has ended meanwhile. ErrGone where the process itself is gone.
func Chain(pid int) ([]Info, error) {
	var chain []Info
	for pid > 0 && len(chain) < chainMax {
		info, err := Look(pid)
		if errors.Is(err, ErrGone) && len(chain) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		chain = append(chain, info)
		pid = info.PPID
	}
	if len(chain) > 0 && chain[0].Zombie {
		return nil, fmt.Errorf("process %d: %w", chain[0].PID, ErrGone)
	}
	return chain, nil
}

// Tree returns the descendants of a process that run now, parents before their children, without itself.
// Those whose parent has ended belong to another parent by then and are not found.
func Tree(pid int) ([]Info, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	children := map[int][]Info{}
	for _, p := range all {
		if !p.Zombie {
			children[p.PPID] = append(children[p.PPID], p)
		}
	}
	var tree []Info
	next := []int{pid}
	for len(next) > 0 {
		for _, child := range children[next[0]] {
			child.Exe, child.Argv = command(child.PID)
			tree = append(tree, child)
			next = append(next, child.PID)
		}
		next = next[1:]
	}
	return tree, nil
}

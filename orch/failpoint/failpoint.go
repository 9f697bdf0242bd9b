// Package failpoint holds the moments at which the tests of faults kill, stop, delay or fail this program: before and
// after everything that a crash could lose or do twice. Only a build with the tag "faults" has them; in every other
// one a point is an empty function, which costs nothing.
//
// What happens at a point is written in a plan, see on.go. What must hold afterwards is the tests' to say.
package failpoint

import "slices"

// All names the points. A test walks the list: each stands in the code once, and each is reached.
var All = slices.Concat(Work, Acts)

// Work are those that any worker meets on its way, in that order. The random plans walk them.
var Work = []string{
	// A verb, a report or a hook on its way to the daemon.
	"client.send.before", "client.sent", "client.do.answered",
	"hook.send.before", "hook.sent", "hook.told",
	"wait.printed", "wait.told",
	"report.spool.before",
	"spool.rename.before", "spool.rename.after",
	// The daemon comes up.
	"daemon.store.before", "daemon.swept", "daemon.spooled", "daemon.inventoried", "daemon.listens",
	"spool.remove.before", "spool.remove.after",
	// One batch.
	"journal.commit.before", "journal.commit.full", "journal.commit.after",
	"journal.runfile.before", "journal.runfile.full", "journal.runfile.after",
	"journal.copy.before", "journal.copy.after",
	"loop.answer.before", "loop.answer.after",
	// An effect.
	"effect.begin", "effect.result.before", "effect.result.after",
	"file.write.before", "file.write.full", "file.write.after",
	"pane.open.before", "pane.open.after",
	"type.paste.before", "type.paste.after", "type.enter.before", "type.enter.after",
	"stop.quit.before", "stop.quit.after", "stop.signal.before", "stop.pane.before", "stop.pane.after",
	// The pane's own process.
	"pane.exec.before", "pane.exec.after", "pane.exit.before", "pane.exit.after",
	// A hook that was given a line to tell, between "hook.sent" and "hook.told". It stands here so that the plans of known
	// seeds keep their points.
	"hook.line.before", "hook.line.after",
}

// Acts are those of single acts that few workers meet. Each has a test of its own.
var Acts = []string{
	// A worktree is made, and made ready; an attempt is checked.
	"tree.add.before", "tree.add.after", "tree.copy.before", "tree.copy.after",
	"command.start.after", "command.told", "command.begin.before", "command.ended",
	// It comes home, or is thrown away.
	"tree.finish.before", "tree.join.after", "tree.advance.after", "tree.keep.before", "tree.keep.after",
	"tree.aside.before", "tree.aside.after", "tree.remove.after", "tree.files.after", "tree.branch.after",
	// What has ended with a server comes back.
	"restore.planned", "restore.window.before", "restore.window.after", "restore.built",
	"restore.order.before", "restore.order.after", "restore.over.before", "restore.over.after",
}

// Package failpoint holds the moments at which the tests of faults kill, stop, delay or fail this program: before and
// after everything that a crash could lose or do twice. Only a build with the tag "faults" has them; in every other
// one a point is an empty function, which costs nothing.
//
// What happens at a point is written in a plan, see on.go. What must hold afterwards is the tests' to say.
package failpoint

// All names the points, in the order in which a piece of work meets them. A test walks the list: each stands in the
// code once, and each is reached.
var All = []string{
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

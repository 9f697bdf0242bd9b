package hooks

// hookCommand is what stands in an agent's settings as the command of every hook. Wherever it stands it is the same
// string, byte for byte: Claude Code runs identical commands of several settings files once.
func hookCommand(self, kind string) string { return ShellWord(self) + " hook " + kind }

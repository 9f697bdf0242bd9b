package hooks

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Plugin is what a kind has beside Kind where guides of st can be put into a person's own configuration, so that
// people call them by name and agents find them. It only says which files these are: one engine writes them, tells
// what became of them, and takes them away.
type Plugin interface {
	// Program is the file to look up in PATH.
	Program() string
	// Folder is where the program keeps its configuration, in an environment; it need not exist.
	Folder(env func(string) string) (string, error)
	// Local is where the program keeps the configuration of one project.
	Local(project string) string
	// Layout are the files of the plugin, in the order of writing.
	Layout(s PluginSetup) []PluginFile
	// Receipt is the file that says what was written, by its path below the folder, with slashes.
	Receipt() string
	// Calls is how a person calls the guides: "/sophonz:orchestrate".
	Calls(s PluginSetup) []string
}

// Guide is one text for an agent.
type Guide struct {
	Name  string                    // orchestrate
	About string                    // when it is of use, in a line
	Hint  string                    // what a person writes behind its name; "" for a guide that nobody calls by name
	Text  func(asked string) string // asked stands where the person's words come in
}

// PluginSetup is what is installed where.
type PluginSetup struct {
	Folder  string // as Plugin.Folder or Plugin.Local names it
	Local   bool   // for one project: nothing of it may get into the project's repository
	Version string // of st, as three numbers
	Guides  []Guide
}

// PluginFile is one file of a plugin.
type PluginFile struct {
	Path string // below the folder, with slashes
	Text string
	// Optional is left alone where a person has a file of that path, or one of those that Unless names.
	Optional bool
	Unless   []string
}

// pluginName is how the plugin is called in every agent program.
const pluginName = "sophonz"

// plugins are the kinds that take one, by name.
var plugins = map[string]Plugin{}

// PluginOf returns how the guides are installed for a kind; an error names the kinds that take them where this takes none.
func PluginOf(kind string) (Plugin, error) {
	if p, ok := plugins[kind]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("there is no plugin for %q (only for %s)", kind, strings.Join(Pluggable(), ", "))
}

// Pluggable lists the kinds that take a plugin, sorted.
func Pluggable() []string {
	var names []string
	for n := range plugins {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// skillFolder is that of a guide which stands alone among the skills of others.
func skillFolder(guide string) string { return "skills/" + pluginName + "-" + guide + "/" }

// skillFiles are the guides as skills, each in a folder of its own.
func skillFiles(s PluginSetup) []PluginFile {
	var files []PluginFile
	for _, g := range s.Guides {
		dir := skillFolder(g.Name)
		if s.Local {
			files = append(files, PluginFile{Path: dir + ".gitignore", Text: ignoreAll})
		}
		head := skillHead("name", pluginName+"-"+g.Name, "description", strconv.Quote(g.About), "metadata", "{version: "+strconv.Quote(s.Version)+"}")
		files = append(files, PluginFile{Path: dir + "SKILL.md", Text: head + g.Text("")})
	}
	return files
}

// ignoreAll keeps the folder in which it stands out of a repository, itself included.
const ignoreAll = "*\n"

// skillHead begins a file of a skill in the form that agent programs share: plain words between lines of dashes.
func skillHead(pairs ...string) string {
	var b strings.Builder
	b.WriteString("---\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s: %s\n", pairs[i], pairs[i+1])
	}
	b.WriteString("---\n\n")
	return b.String()
}

package hooks

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Settings is what a kind has beside Kind where its hooks can stand in a person's own settings, so that agents
// which nobody started through st are seen too. It reads and writes nothing: it turns texts into texts.
type Settings interface {
	// Program is the file to look up in PATH.
	Program() string
	// Folder is where the program keeps its settings, in an environment; it need not exist.
	Folder(env func(string) string) (string, error)
	// Files are all files below that folder that st reads or writes, by path, in the order of writing.
	Files(folder string) []string
	// Consents are what a person may allow beside the hooks.
	Consents() []Consent
	// Install returns those files that have to change, nil in Texts for one that has to go. Entries of an older
	// st are brought up to date.
	Install(s Setup) (Texts, error)
	// Uninstall returns the files that have to change so that nothing of st is left in them.
	Uninstall(s Setup) (Texts, error)
	// Installed tells what is there.
	Installed(s Setup) (Installed, error)
}

// Least is the oldest version of a kind's program that takes a settings file with hooks which it does not know; "" where
// all that st knows of do.
func Least(k Settings) string {
	if l, ok := k.(interface{ Least() string }); ok {
		return l.Least()
	}
	return ""
}

// Texts are files by their absolute paths; nil is a file that isn't there, empty one without a byte.
type Texts map[string][]byte

// Consent is one thing that a person may allow, each by a flag of its own.
type Consent struct {
	Flag  string // "allow"
	About string // the flag in a line
	Means string // what is allowed thereby, in a sentence
}

// Setup is what an installation starts from.
type Setup struct {
	Folder string   // as Settings.Folder names it
	Self   string   // absolute path of st, for hook commands and rules
	Given  []string // flags of the consents that were given
	Have   Texts    // all of Settings.Files
}

// Installed is what stands in a person's settings.
type Installed struct {
	Events   []InstalledEvent   `json:"events"`   // all that st wants, and older ones that it finds
	Consents []InstalledConsent `json:"consents"` // all that the kind has
	Missing  []string           `json:"missing"`  // programs of installed commands that are not there any more
	programs []string           // of the installed commands
}

// InstalledEvent is one hook.
type InstalledEvent struct {
	Event     string `json:"event"`
	Installed bool   `json:"installed"`
	Current   bool   `json:"current"`           // as this st would write it
	Trusted   *bool  `json:"trusted,omitempty"` // for kinds that want hooks trusted
}

// InstalledConsent tells whether a consent is in force: all of it, none, or what an older st wrote.
type InstalledConsent struct {
	Flag    string `json:"flag"`
	Given   bool   `json:"given"`
	Current bool   `json:"current"`
}

// settings are the kinds whose hooks can be installed, by name.
var settings = map[string]Settings{}

// SettingsOf returns how the hooks of a kind are installed; an error names the kinds that have settings where this has none.
func SettingsOf(kind string) (Settings, error) {
	if s, ok := settings[kind]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("hooks can't be installed for %q (only for %s)", kind, strings.Join(Installable(), ", "))
}

// Installable lists the kinds whose hooks can be installed, sorted.
func Installable() []string {
	var names []string
	for n := range settings {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// allowed are the verbs that a person may let agents run without being asked: an agent's own ones, in groups of
// the words before the verb. A person's own verbs and the whole of st are never among them, nor worker attach and restore,
// by which somebody says which agent is whose: an agent may, and asks.
var allowed = []struct {
	noun  string
	verbs []string
}{
	{"worker", []string{"start", "wait", "read", "ls", "show", "send", "stop", "retry", "restart", "adopt", "release", "finish", "done", "progress"}},
	{"orch", []string{"start", "show", "ls", "use", "end"}},
	{"task", []string{"create", "ls", "show", "update", "assign", "cancel", "attempts", "pick"}},
	{"gate", []string{"ask", "ls", "show", "wait", "cancel"}},
	{"skills", []string{"ls", "get"}},
	{"request", []string{"show"}},
	{"", []string{"check", "send", "ask", "reply", "escalate", "gc", "ls", "agents", "tree", "log", "status", "version"}},
}

// Allowed lists them as they are typed behind st.
func Allowed() (verbs []string) {
	for _, g := range allowed {
		for _, v := range g.verbs {
			verbs = append(verbs, strings.TrimSpace(g.noun+" "+v))
		}
	}
	return verbs
}

const allowAbout = "let agents run the single verbs of st that are theirs without asking"

// allowMeans says in a sentence what the consent to those verbs means.
func allowMeans(program string) string {
	var verbs []string
	for _, g := range allowed {
		verbs = append(verbs, strings.TrimSpace("st "+g.noun)+" "+strings.Join(g.verbs, "|"))
	}
	return program + " runs " + strings.Join(verbs, ", ") + " without asking, in every project; all other verbs still ask"
}

func (s Setup) gives(flag string) bool { return slices.Contains(s.Given, flag) }

// changed are those of the edited files that differ from what they were.
func (s Setup) changed(files ...*jsonFile) (Texts, error) {
	texts := Texts{}
	for _, f := range files {
		if f.box.fresh {
			continue // nothing was there, and nothing was added
		}
		text, err := f.write()
		if err != nil {
			return nil, err
		}
		s.change(texts, f.path, text)
	}
	return texts, nil
}

// change notes a file's new text where it differs from the old one.
func (s Setup) change(texts Texts, path string, text []byte) {
	old := s.Have[path]
	if (old == nil) != (text == nil) || !bytes.Equal(old, text) {
		texts[path] = text
	}
}

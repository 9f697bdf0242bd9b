package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"st/orch"
	"st/orch/daemon"
)

// loginService is what starts the daemon when a person logs in: a file in which the system looks, and the commands that
// make it look there.
type loginService struct {
	path string
	text string
	// Each is one command; enable and disable may be repeated. is tells by its exit code whether it is enabled.
	enable, disable [][]string
	is              []string
	// link is what enabling makes beside the file, "" for nothing.
	link string
}

// loginMark is in a file that is ours.
const loginMark = "made by st for the login"

// loginEnv are the variables that the daemon needs and that a login does not bring: where programs are found, and the
// multiplexer's sockets.
var loginEnv = []string{"PATH", "LANG", "TMUX_TMPDIR"}

// loginHere is the service for a home on this system; nil where there is no kind of it.
func loginHere(home, self string, getenv func(string) string) (*loginService, error) {
	env := [][2]string{{"ST_HOME", home}}
	for _, name := range loginEnv {
		if value := getenv(name); value != "" {
			env = append(env, [2]string{name, value})
		}
	}
	if strings.ContainsAny(fmt.Sprint(home, self, env), "\n\r\x00") {
		return nil, &orch.Error{Code: "usage", Message: "a path with a line break in it can't stand in a login service"}
	}
	name := loginName(home, getenv)
	switch runtime.GOOS {
	case "linux":
		return systemdService(name, self, env, getenv), nil
	case "darwin":
		return launchdService(name, self, env, getenv), nil
	}
	return nil, nil
}

// loginName tells the services of several homes apart.
func loginName(home string, getenv func(string) string) string {
	if usual, err := daemon.Home(func(name string) string {
		if name == "ST_HOME" {
			return ""
		}
		return getenv(name)
	}); err == nil && usual == home {
		return "st"
	}
	sum := sha256.Sum256([]byte(home))
	return "st-" + hex.EncodeToString(sum[:4])
}

// systemdService is a user unit. Its process ends at once, and what it has started, the daemon and a tmux server, must
// not end with it.
func systemdService(name, self string, env [][2]string, getenv func(string) string) *loginService {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	dir, unit := filepath.Join(base, "systemd", "user"), name+".service"
	var b strings.Builder
	fmt.Fprintf(&b, "# %s; st up --no-login takes it away\n", loginMark)
	b.WriteString("[Unit]\nDescription=st hands work to coding agents\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nKillMode=process\n")
	for _, kv := range env {
		fmt.Fprintf(&b, "Environment=%s\n", systemdWord(kv[0]+"="+kv[1], ""))
	}
	fmt.Fprintf(&b, "ExecStart=%s up\n\n[Install]\nWantedBy=default.target\n", systemdWord(self, "$"))
	ctl := func(words ...string) []string { return append([]string{"systemctl", "--user"}, words...) }
	return &loginService{
		path: filepath.Join(dir, unit), text: b.String(), link: filepath.Join(dir, "default.target.wants", unit),
		enable: [][]string{ctl("daemon-reload"), ctl("enable", "--now", unit)}, disable: [][]string{ctl("disable", unit)}, is: ctl("is-enabled", unit),
	}
}

// systemdWord is one word of a unit. A % begins a specifier everywhere, a $ a variable in command lines only.
func systemdWord(s, doubled string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s)
	if doubled != "" {
		s = strings.ReplaceAll(s, doubled, doubled+doubled)
	}
	return `"` + s + `"`
}

// launchdService is an agent of launchd, which else ends what its process has left behind.
func launchdService(name, self string, env [][2]string, getenv func(string) string) *loginService {
	label := "sophonz." + name
	var b strings.Builder
	b.WriteString(xml.Header)
	fmt.Fprintf(&b, "<!-- %s; the flag no-login of st up takes it away -->\n", loginMark)
	b.WriteString(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n<plist version=\"1.0\">\n<dict>\n")
	fmt.Fprintf(&b, "  <key>Label</key><string>%s</string>\n", label)
	fmt.Fprintf(&b, "  <key>ProgramArguments</key><array><string>%s</string><string>up</string></array>\n", xmlText(self))
	b.WriteString("  <key>EnvironmentVariables</key><dict>\n")
	for _, kv := range env {
		fmt.Fprintf(&b, "    <key>%s</key><string>%s</string>\n", kv[0], xmlText(kv[1]))
	}
	b.WriteString("  </dict>\n  <key>RunAtLoad</key><true/>\n  <key>AbandonProcessGroup</key><true/>\n</dict>\n</plist>\n")
	path := filepath.Join(getenv("HOME"), "Library", "LaunchAgents", label+".plist")
	domain := fmt.Sprintf("gui/%d", os.Getuid())
	return &loginService{
		path: path, text: b.String(), enable: [][]string{{"launchctl", "bootstrap", domain, path}},
		disable: [][]string{{"launchctl", "bootout", domain + "/" + label}}, is: []string{"launchctl", "print", domain + "/" + label},
	}
}

func xmlText(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a buffer takes all
	return b.String()
}

// loginState is how the service of a home stands.
type loginState struct {
	Path    string `json:"path"`    // of its file; "" where there is none
	Current bool   `json:"current"` // it starts this st for this home
	Enabled bool   `json:"enabled"` // the system has taken it up
}

// state looks at the file and asks the system.
func (s *loginService) state(ctx context.Context) (loginState, error) {
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return loginState{}, nil
	}
	if err != nil {
		return loginState{}, err
	}
	return loginState{Path: s.path, Current: lasting(string(raw)) == lasting(s.text), Enabled: systemRun(ctx, s.is) == nil}, nil
}

// lasting is a file's text without what is another in every shell.
func lasting(text string) (rest string) {
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(loginEnv, func(name string) bool {
			return strings.Contains(line, `"`+name+"=") || strings.Contains(line, "<key>"+name+"</key>")
		}) {
			rest += line
		}
	}
	return rest
}

// written says that the file is just what would be written now.
func (s *loginService) written() bool {
	raw, err := os.ReadFile(s.path)
	return err == nil && string(raw) == s.text
}

// own refuses to touch a file that somebody else has written.
func (s *loginService) own() error {
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !strings.Contains(string(raw), loginMark) {
		err = &orch.Error{Code: "refused", Message: s.path + " was not made by st", Hint: "move it away, then ask again", Next: []string{"cat " + shellWord(s.path)}}
	}
	return err
}

// put writes the file and has the system take it up; changed is false where all of that was so already.
func (s *loginService) put(ctx context.Context) (changed bool, err error) {
	if err := s.own(); err != nil {
		return false, err
	}
	is, err := s.state(ctx)
	if err != nil || s.written() && is.Enabled {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return false, unwritable(filepath.Dir(s.path), err)
	}
	if is.Enabled && s.link == "" { // launchd keeps what it has read
		err = s.all(ctx, s.disable)
	}
	if err == nil {
		err = os.WriteFile(s.path, []byte(s.text), 0o644)
	}
	if err != nil {
		return false, unwritable(s.path, err)
	}
	return true, s.all(ctx, s.enable)
}

// remove takes all of it away; changed is false where there was nothing.
func (s *loginService) remove(ctx context.Context) (changed bool, err error) {
	if err := s.own(); err != nil {
		return false, err
	}
	is, err := s.state(ctx)
	if err != nil || is.Path == "" {
		return false, err
	}
	if is.Enabled {
		err = s.all(ctx, s.disable)
	}
	for _, path := range []string{s.link, s.path} {
		if path == "" {
			continue
		}
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if s.link != "" { // folders that may have been made for it; one with something in it stays
		for _, dir := range []string{filepath.Dir(s.link), filepath.Dir(s.path), filepath.Dir(filepath.Dir(s.path))} {
			if rerr := os.Remove(dir); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				break
			}
		}
	}
	return true, err
}

// all runs commands one after another and says what could not be done, with the commands to type.
func (s *loginService) all(ctx context.Context, commands [][]string) error {
	for i, words := range commands {
		if err := systemRun(ctx, words); err != nil {
			e := &orch.Error{Code: "failed", Message: fmt.Sprintf("%s: %v", strings.Join(words, " "), err), Hint: "the file is " + s.path + "; what is still to be done:"}
			for _, left := range commands[i:] {
				e.Next = append(e.Next, typed(left))
			}
			return e
		}
	}
	return nil
}

// systemRun runs one command and tells what it said last where it fails.
func systemRun(ctx context.Context, words []string) error {
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("it is not installed")
	}
	if said := lastLine(string(out)); err != nil && said != "" {
		return errors.New(said)
	}
	return err
}

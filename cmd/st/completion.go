package main

import (
	"embed"
)

//go:embed completion
var completionScripts embed.FS

var completionVerb = &verb{
	name: "completion", args: "bash|zsh|fish", min: 1, max: 1, about: "the script that completes st in a shell",
	help: "bash: eval \"$(st completion bash)\" in ~/.bashrc; zsh: source <(st completion zsh) behind compinit in\n" +
		"~/.zshrc; fish: st completion fish >~/.config/fish/completions/st.fish. Names of workers and runs are\n" +
		"asked of a daemon that runs; none is started.",
	run: completion,
}

func init() { register(completionVerb) }

func completion(c *call) (int, error) {
	script, err := completionScripts.ReadFile("completion/st." + c.arg(0))
	if err != nil {
		return 0, c.misuse("completion: there is none for %s, only for bash, zsh and fish", quoted(c.arg(0)))
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"shell": c.arg(0), "script": string(script)})
	}
	return exitDone, c.out.write(script)
}

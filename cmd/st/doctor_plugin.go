package main

import (
	"context"

	"st/hooks"
)

// checkPlugin looks at the plugin in the person's own configuration. Without it an agent has to be told where to learn
// how to use st, so that one that was never installed is no fault.
func (p *patient) checkPlugin(context.Context) finding {
	name := p.kind.Name()
	install := "st plugin install --agent " + name
	plug, err := hooks.PluginOf(name)
	if err != nil {
		return fine("there is none for this kind of agent")
	}
	folder, err := plug.Folder(p.lookup)
	if err != nil {
		return warning(nil, "%v", err)
	}
	own := plugged{name, plug, pluginSetup(folder, p.self)}
	s := own.look()
	switch s.State {
	case pluginStrange:
		return warning([]string{"st plugin status --agent " + name}, "%s", s.Error)
	case pluginNone:
		if calls := callsOf(own); calls != "" {
			return fine("not installed; so that %s works: %s", calls, install)
		}
		return fine("not installed; so that its model finds the guides: %s", install)
	case hooks.PluginEdited:
		return fine("installed, and changed by you: st plugin status --agent %s", name)
	case pluginPartly, hooks.PluginOutdated:
		return warning([]string{install}, "%s", pluginWords(s))
	}
	return fine("%s", pluginWords(s))
}

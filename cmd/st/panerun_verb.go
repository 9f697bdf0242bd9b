package main

var paneRunVerb = &verb{
	name: "pane-run", hidden: true, about: "be the process of a pane that runs an agent",
	raw: runPane,
}

func init() { register(paneRunVerb) }

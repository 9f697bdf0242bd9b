package main

import "runtime"

var versionVerb = &verb{
	name: "version", about: "which st this is",
	run: func(c *call) (int, error) {
		if c.out.json {
			return exitDone, c.out.data(map[string]string{
				"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			})
		}
		return exitDone, c.out.say("st %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	},
}

func init() { register(versionVerb) }

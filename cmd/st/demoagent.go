package main

import (
	"context"
	"os"

	"st/hooks/demo"
)

var demoagentVerb = &verb{
	name: demo.Verb, hidden: true, about: "be the built-in agent on this terminal",
	raw: func(args []string) int {
		return demo.Main(context.Background(), args, os.Stdin, os.Stdout, os.Environ())
	},
}

func init() { register(demoagentVerb) }

package hooks

import "st/orch"

func (claude) Line(line []byte) (orch.AgentEvent, bool) { return orch.AgentEvent{}, false }

func (claude) LastAnswer(path string) (string, error) { return "", nil }

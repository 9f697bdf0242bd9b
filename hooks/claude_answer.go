package hooks

func (c claude) Answer(payload []byte, agent bool) []byte { return nil }

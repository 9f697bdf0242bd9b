package orch

import "time"

// KeptRef is a reference by which something was kept that would have been lost with a worktree.
type KeptRef struct {
	Ref     string    `json:"ref"`
	Commit  string    `json:"commit"` // or another object, to which it leads
	Made    time.Time `json:"made"`
	Subject string    `json:"subject"`
	Commits int       `json:"commits"` // that nothing else but such references leads to
}

// KeptRefs are those of a repository. It answers KeptArgs and RefsDrop.
type KeptRefs struct {
	Repo string    `json:"repo"`
	Refs []KeptRef `json:"refs"`
}

// KeptArgs ask for the references of the repository of a folder.
type KeptArgs struct {
	Repo string `json:"repo"`
}

// RefsDrop deletes references of a repository by which something was kept; a person's to say. Answer: KeptRefs, those that
// went. It is no input of Step: nothing of the state hangs on them.
type RefsDrop struct {
	Repo string    `json:"repo"`
	Refs []KeptRef `json:"refs"`
}

// Type on the wire.
func (RefsDrop) Type() string { return "refs-drop" }

// MayDropRefs refuses an agent: what such references keep may be what a person looks for.
func MayDropRefs(v View, by Caller) *Error {
	if !IsAgent(v, by) {
		return nil
	}
	e := refuse("refused_agent", "st gc --refs", "an agent may not drop what was kept of finished work")
	e.Hint = "a person may do it:"
	return e
}

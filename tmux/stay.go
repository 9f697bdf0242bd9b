package tmux

import "context"

// stayOption marks a pane that Stay keeps.
const stayOption = "@st_kept"

// Stay keeps a pane when its process ends, with its last words, until Leave: it may be the last of its session, or of the
// whole server. In one that stays anyway, by the settings of a person, nothing is changed. ErrNoPane or ErrOtherServer
// where it is not the one meant.
func (t *Tmux) Stay(ctx context.Context, id string, want Identity) error {
	if err := paneID(id); err != nil {
		return err
	}
	// A flag up to 3.2, a choice since 3.3; with "failed" one that ends well is closed.
	goes := "#{m/r:^(0|off|failed)$,#{remain-on-exit}}"
	stay := "if-shell -F -t " + id + " " + word(goes) + " " + word("set-option -p -t "+id+" remain-on-exit on ; set-option -p -t "+id+" "+stayOption+" 1")
	ok, err := was(t.Run(ctx, guarded(id, ours(id, want, ""), stay)))
	if ok || err != nil {
		return err
	}
	return t.mismatch(ctx, id, want, "")
}

// Leave ends what Stay has begun: a pane whose process has ended is closed, one that lives is closed when that ends. One
// that Stay does not keep is left alone, and one that is not there is nothing to do.
func (t *Tmux) Leave(ctx context.Context, id string, want Identity) error {
	if err := paneID(id); err != nil {
		return err
	}
	c := ours(id, want, "")
	c.is(stayOption, "1")
	leave := "if-shell -F -t " + id + " " + word("#{pane_dead}") + " " + word("kill-pane -t "+id) + " " +
		word("set-option -p -u -t "+id+" remain-on-exit ; set-option -p -u -t "+id+" "+stayOption)
	_, err := was(t.Run(ctx, guarded(id, c, leave)))
	return err
}

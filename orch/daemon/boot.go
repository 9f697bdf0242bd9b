package daemon

import (
	"context"

	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc"
)

// bootID is the boot of the computer in which we run, "" where the system does not tell.
func bootID() string {
	boot, err := proc.Boot()
	if err != nil {
		return ""
	}
	return failpoint.Boot(boot)
}

// stateBoot is the boot to which the processes belong that the state knows.
func (d *daemon) stateBoot() (boot string) {
	d.loop.Read(func(v orch.View) { boot = orch.BootOf(v) })
	return boot
}

// boot ends what ran in an earlier boot of the computer. First it takes what was told in that one: its processes are
// known by their ids still.
func (d *daemon) boot(ctx context.Context) error {
	before, now := d.stateBoot(), bootID()
	if now == "" || now == before {
		return nil
	}
	if before != "" {
		d.log.Printf("daemon: the computer has been started anew")
		d.spool.Later = func(boot string) bool { return boot != "" && boot != before }
		err := d.spool.Take(ctx)
		d.spool.Later = nil
		if err != nil {
			return err
		}
	}
	_, err := d.loop.Do(ctx, orch.Input{At: d.loop.Now(), What: orch.Booted{Boot: now}})
	return doError(err)
}

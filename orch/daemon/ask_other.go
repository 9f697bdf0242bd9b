//go:build !linux && !darwin

package daemon

import (
	"context"
	"time"
)

func (c *Client) ask(until time.Time, req Request, out any) error {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	return c.call(ctx, req, out)
}

//go:build !linux && !darwin

package daemon

import "context"

func (c *Client) ask(ctx context.Context, req Request) error { return c.call(ctx, req, nil) }

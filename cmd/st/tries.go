package main

import (
	"fmt"
	"strings"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

// tries reads the flags that say how a task is tried several times: the kinds in turn, a worktree for each.
func (c *call) tries() ([]daemon.StartOrder, error) {
	n := c.Int("attempts")
	switch check, err := c.text("check"); {
	case err != nil:
		return nil, err
	case !c.IsSet("attempts"):
		return nil, c.misuse("task create: --check says how attempts are checked, and goes with --attempts")
	case unfit(check) != "":
		return nil, c.misuse("task create: --check: %s", unfit(check))
	case n < 1 || n > orch.AttemptsMost:
		return nil, c.misuse("task create: --attempts %d: 1 to %d are wanted", n, orch.AttemptsMost)
	case c.IsSet("branch") && n > 1:
		return nil, c.misuse("task create: --branch is one branch, and each attempt has its own")
	}
	if err := c.Set("worktree", "true"); err != nil {
		return nil, err
	}
	kinds := strings.Split(c.String("agent"), ",")
	var orders []daemon.StartOrder
	for i := range n {
		order, err := c.try(strings.TrimSpace(kinds[i%len(kinds)]))
		if err != nil {
			return nil, err
		}
		if order.Name != "" && n > 1 {
			order.Name = fmt.Sprintf("%s-%d", order.Name, i+1)
		}
		orders = append(orders, order)
	}
	return orders, nil
}

// try is how the worker of one attempt is started.
func (c *call) try(name string) (order daemon.StartOrder, err error) {
	if err := c.Set("agent", name); err != nil {
		return order, err
	}
	var kind hooks.Kind
	if kind, err = c.launchOrder(&order); err != nil {
		return order, err
	}
	if order.Program, err = c.ready(kind); err != nil && !c.taken() {
		return order, err
	}
	return order, nil
}

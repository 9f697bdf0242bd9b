package main

import (
	"github.com/google/uuid"

	"st/orch"
	"st/orch/daemon"
)

// answered prints an answer, and then says that it is told.
func (c *call) answered(client *daemon.Client, info orch.QuestionInfo) (int, error) {
	if info.Error != nil {
		return 0, info.Error
	}
	if c.out.json {
		if err := c.out.data(askSaid{Message: &info.Message, Answer: info.Answer}); err != nil {
			return 0, err
		}
	} else if err := c.out.say("%s", block(info.Answer)); err != nil {
		return 0, err
	}
	return exitDone, client.Do(c.ctx, uuid.NewString(), orch.AskTold{Message: info.Message.ID}, nil)
}

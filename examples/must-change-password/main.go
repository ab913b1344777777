// A plugin that holds people at a page until they have set a new password: those whose
// first password somebody else chose, or whose password was found in a leak. Whoever
// decides so sets the column must_change_password. A reset by the link in a mail clears it.
package main

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

type plugin struct {
	config struct {
		Page   string `config:"page" default:"/change-password" doc:"Where people learn that they need a new password."`
		Column string `config:"column" default:"must_change_password" doc:"The user column that is true as long as they do, a boolean."`
	}
}

func (p *plugin) configure(_ context.Context, in pluginsdk.Setup) error {
	if column := p.config.Column; !in.CanRead(column) || !in.CanWrite(column) {
		return pluginsdk.BadConfig("column", "add %q to user_read and user_write", column)
	}
	return nil
}

// Dispense holds those who have not set a new password yet.
func (p *plugin) Dispense(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
	if must, _ := user.Columns.Bool(p.config.Column); must {
		return pluginsdk.Redirect(p.config.Page).Hold(), nil
	}
	return pluginsdk.Done(), nil
}

// Notify clears the column after a reset. The host applies the effect in one transaction
// with the mark that this listener knows of the event.
func (p *plugin) Notify(_ context.Context, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
	if must, _ := e.User.Columns.Bool(p.config.Column); e.Kind != "password_reset" || !must {
		return nil, nil
	}
	return []pluginsdk.Effect{pluginsdk.SetUser(p.config.Column, false)}, nil
}

func newPlugin() pluginsdk.Plugin {
	p := &plugin{}
	return pluginsdk.Plugin{
		Name: "must-change-password", Version: "1.0.0", Description: "Holds people until they have set a new password.",
		Dispenser: p, Listener: p, Config: &p.config, Configure: p.configure,
	}
}

func main() { pluginsdk.Serve(newPlugin()) }

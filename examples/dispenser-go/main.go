// A dispenser that sends those whose trial has ended to the page that says so.
package main

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

type trial struct {
	Page string `config:"page" default:"/upgrade"`
}

func (t *trial) Dispense(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
	ends, ok := user.Columns.Int("trial_ends_at") // seconds since 1970
	if ok && time.Unix(ends, 0).Before(time.Now()) {
		return pluginsdk.Redirect(t.Page).With(pluginsdk.ConsumeIntended()), nil
	}
	return pluginsdk.Done(), nil
}

func main() {
	t := &trial{}
	pluginsdk.Serve(pluginsdk.Plugin{Name: "trial", Version: "1.0.0", Dispenser: t, Config: t})
}

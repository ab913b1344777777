// A dispenser that holds people at the terms until they have accepted them.
package main

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() {
	pluginsdk.Serve(pluginsdk.Plugin{
		Name: "terms", Version: "1.0.0",
		Dispenser: pluginsdk.DispenserFunc(dispense),
	})
}

func dispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	if user.Columns.Has("terms_accepted") {
		return pluginsdk.Done(), nil
	}
	if accepted, _ := req.Form.Bool("accept"); accepted { // what the page has posted
		return pluginsdk.Done().With(pluginsdk.SetUser("terms_accepted", time.Now())), nil
	}
	return pluginsdk.Redirect("/terms/accept").Hold(), nil
}

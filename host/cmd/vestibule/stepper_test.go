package main

import (
	"context"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// stepperMain is a plugin whose answer depends on the person's name alone: "Open" is asked
// for the organisation, "Held" is held at /app/terms until its page posts the code, and all
// others are done. What has been done is kept in the session.
func stepperMain() {
	pluginsdk.Serve(pluginsdk.Plugin{
		Name: "stepper", Version: "1.0.0",
		Dispenser: pluginsdk.DispenserFunc(stepperDispense),
		OrgSetup: pluginsdk.OrgSetupFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Result, error) {
			return pluginsdk.Satisfied().With(pluginsdk.SetSession("done", true)), nil
		}),
	})
}

func stepperDispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	done, _ := req.Session.Bool("done")
	code, _ := req.Form.Text("code")
	switch {
	case done:
		return pluginsdk.Done(), nil
	case strings.HasPrefix(user.Name, "Open"):
		return pluginsdk.OrgSetup(user.Name), nil
	case strings.HasPrefix(user.Name, "Held") && code == "314159":
		return pluginsdk.Done().With(pluginsdk.SetSession("done", true)), nil
	case strings.HasPrefix(user.Name, "Held"):
		return pluginsdk.Redirect("/app/terms").Hold(), nil
	}
	return pluginsdk.Done(), nil
}

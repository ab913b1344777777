package pluginsdk_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A dispenser asks for the organisation until there is one.
func ExamplePlugin() {
	plugin := pluginsdk.Plugin{
		Name:    "hello",
		Version: "1.0.0",
		Dispenser: pluginsdk.DispenserFunc(func(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
			if !user.Columns.Has("partner_id") {
				return pluginsdk.OrgSetup(user.Name), nil
			}
			return pluginsdk.Done(), nil
		}),
	}
	d, err := plugin.Describe() // what pluginsdk.Serve(plugin) tells the host
	fmt.Println(d.Name, d.Roles, err)
	// Output: hello [dispenser] <nil>
}

// An intent can ask for changes, which the host applies together with it.
func ExampleIntent_With() {
	intent := pluginsdk.Redirect("/welcome").With(
		pluginsdk.ConsumeIntended(),
		pluginsdk.SetSession("welcomed", true),
	)
	fmt.Println(intent.Kind(), intent.Target(), len(intent.Effects()))
	// Output: redirect /welcome 2
}

// A handler judges the form, and keeps the person at it until it will do.
func ExampleRequest_Bind() {
	req := &pluginsdk.Request{Form: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"org_name": "Analytical Engines", "legal_form": int64(2)})}
	var form pluginsdk.OrgForm
	if err := req.Bind(&form); err != nil {
		fmt.Println(err)
	}
	result := pluginsdk.Satisfied().With(pluginsdk.SetUser("partner_id", int64(4711)))
	if form.BillingEmail == "" {
		result = pluginsdk.NeedsMoreInput(map[string]any{
			"fields": map[string]any{"billing_email": []string{"required"}},
		})
	}
	fmt.Println(form.OrgName, form.LegalForm, result.Status())
	// Output: Analytical Engines 2 needs_more_input
}

// All mistakes in a config block are found at once, each with its place.
func ExampleSetup_Decode() {
	var config struct {
		Page  string `config:"page,required" doc:"Where the others go."`
		Mood  string `config:"mood" default:"plain" oneof:"plain loud"`
		Rules []struct {
			Target string `config:"target,required"`
		} `config:"rules"`
	}
	setup := pluginsdk.Setup{Config: []byte(`{"pgae": "/", "mood": "soft", "rules": [{"target": "/a"}, {}]}`)}
	err := setup.Decode(&config)
	var mistakes *pluginsdk.ConfigError
	if errors.As(err, &mistakes) {
		for _, p := range mistakes.Problems {
			fmt.Printf("%s: %s\n", p.Path, p.Message)
		}
	}
	// Output:
	// page: this key is required: Where the others go
	// mood: "soft" is none of: plain, loud
	// rules[1].target: this key is required
	// pgae: this key is unknown; did you mean "page"?
}

// A call can be written down, as the flag -call of a plugin reads it.
func ExampleCall_Parse() {
	var call pluginsdk.Call
	if err := call.Parse([]byte(`{"user": {"id": 7, "columns": {"plan": "pro"}}}`)); err != nil {
		fmt.Println(err)
	}
	dispenser := pluginsdk.DispenserFunc(func(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
		plan, _ := user.Columns.Text("plan")
		return pluginsdk.Redirect("/" + plan), nil
	})
	answer, err := call.Run(context.Background(), pluginsdk.Plugin{Dispenser: dispenser})
	fmt.Println(string(answer), err)
	// Output:
	// {
	//   "kind": "redirect",
	//   "target": "/pro",
	//   "effects": []
	// } <nil>
}

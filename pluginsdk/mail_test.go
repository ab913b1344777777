package pluginsdk_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A mail that no host would send fails in the author's test, whatever the role.
func TestMails(t *testing.T) {
	many := func(n int) map[string]string {
		texts := map[string]string{}
		for i := range n {
			texts["t"+strconv.Itoa(i)] = "x"
		}
		return texts
	}
	for name, tt := range map[string]struct {
		mail pluginsdk.Effect
		want string
	}{
		"none":             {pluginsdk.Mail("greeting", nil), ""},
		"as many as may":   {pluginsdk.Mail("greeting", many(16)), ""},
		"as long as may":   {pluginsdk.Mail("greeting", map[string]string{strings.Repeat("k", 64): strings.Repeat("ü", 512)}), ""},
		"too many":         {pluginsdk.Mail("greeting", many(17)), "17 texts; 16 are allowed"},
		"too long":         {pluginsdk.Mail("greeting", map[string]string{"link": strings.Repeat("ü", 513)}), `"link" of 1026 bytes; 1024 are allowed`},
		"a long name":      {pluginsdk.Mail("greeting", map[string]string{strings.Repeat("k", 65): "x"}), "not 1 to 64 printable bytes"},
		"no name":          {pluginsdk.Mail("greeting", map[string]string{"": "x"}), "not 1 to 64 printable bytes"},
		"two lines":        {pluginsdk.Mail("greeting", map[string]string{"link": "a\nb"}), "not one line"},
		"two paragraphs":   {pluginsdk.Mail("greeting", map[string]string{"link": "a\u2029b"}), "not one line"},
		"no UTF-8":         {pluginsdk.Mail("greeting", map[string]string{"link": "\xff"}), "not one line of UTF-8"},
		"replaces a value": {pluginsdk.Mail("greeting", nil).Replacing(1), "only an effect of SetUser can"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plugintest.Serve(t, pluginsdk.Plugin{
				Name: "test",
				Dispenser: pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
					return pluginsdk.Done().With(tt.mail), nil
				}),
				OrgSetup: pluginsdk.OrgSetupFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Result, error) {
					return pluginsdk.Satisfied().With(tt.mail), nil
				}),
				Listener: pluginsdk.ListenerFunc(func(context.Context, pluginsdk.Event) ([]pluginsdk.Effect, error) {
					return []pluginsdk.Effect{tt.mail}, nil
				}),
			})
			if tt.want == "" {
				p.Dispense(pluginsdk.User{}).IsDone().With(tt.mail)
				p.Handle(pluginsdk.User{}, nil).Satisfied().With(tt.mail)
				p.Notify(pluginsdk.Event{}).With(tt.mail)
				return
			}
			p.Dispense(pluginsdk.User{}).Fails(tt.want)
			p.Handle(pluginsdk.User{}, nil).Fails(tt.want)
			p.Notify(pluginsdk.Event{}).Fails(tt.want)
		})
	}
}

// A listener has no session, and learns so in a test.
func TestListenersHaveNoSession(t *testing.T) {
	for name, effect := range map[string]pluginsdk.Effect{"a value": pluginsdk.SetSession("a", 1), "the intended URL": pluginsdk.ConsumeIntended()} {
		p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", Listener: pluginsdk.ListenerFunc(func(context.Context, pluginsdk.Event) ([]pluginsdk.Effect, error) {
			return []pluginsdk.Effect{effect}, nil
		})})
		if n := p.Notify(pluginsdk.Event{}); len(n.Effects) > 0 {
			t.Errorf("%s: %v", name, n.Effects)
		}
		p.Notify(pluginsdk.Event{}).Fails("a listener has no session")
	}
}

// A plugin learns the address of the site and its mails.
func TestSetupNamesTheSite(t *testing.T) {
	var got pluginsdk.Setup
	p := pluginsdk.Plugin{
		Name: "test", Listener: pluginsdk.ListenerFunc(func(context.Context, pluginsdk.Event) ([]pluginsdk.Effect, error) { return nil, nil }),
		Configure: func(_ context.Context, s pluginsdk.Setup) error { got = s; return nil },
	}
	plugintest.Serve(t, p, pluginsdk.Setup{PublicURL: "https://app.example.com", Mails: []string{"greeting"}})
	if got.PublicURL != "https://app.example.com" || !got.CanMail("greeting") || got.CanMail("other") {
		t.Errorf("got %+v", got)
	}
}

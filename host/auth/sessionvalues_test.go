package auth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The limit of session values counts what one plugin sets: not the name of the plugin that
// the host puts before each, and not the values of other plugins.
func TestSessionValuesCountAsTheirAuthorSetsThem(t *testing.T) {
	const plugin = "a-plugin-with-a-long-name/"
	text := func(n int) string { return strings.Repeat("x", n) }
	full := []pluginsdk.Effect{ // 2 * (1 + 10 + 16373) bytes
		pluginsdk.SetSession(plugin+"a", text(16373)), pluginsdk.SetSession(plugin+"b", []byte(text(16373))),
	}
	for name, tt := range map[string]struct {
		effects []pluginsdk.Effect
		status  int
		message string
	}{
		"full":               {full, 200, "login_success"},
		"full, two plugins":  {append(full[:2:2], pluginsdk.SetSession("other/a", text(16373)), pluginsdk.SetSession("other/b", text(16373))), 200, "login_success"},
		"a byte over":        {append(full[:1:1], pluginsdk.SetSession(plugin+"b", text(16374))), 502, "dispenser_contract"},
		"a number over":      {append(full[:2:2], pluginsdk.SetSession(plugin+"n", int64(1))), 502, "dispenser_contract"},
		"in this process":    {[]pluginsdk.Effect{pluginsdk.SetSession("a", text(16373)), pluginsdk.SetSession("b", text(16373))}, 200, "login_success"},
		"a byte over, there": {[]pluginsdk.Effect{pluginsdk.SetSession("a", text(16373)), pluginsdk.SetSession("b", text(16374))}, 502, "dispenser_contract"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			r := newRig(t, func(o *auth.Options) {
				o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
				askOne(o, func() pluginsdk.Dispenser {
					return pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
						return pluginsdk.Done().With(tt.effects...), nil
					})
				})
			})
			r.login(adaPassword, true).want(tt.status, tt.message)
			if over := strings.HasPrefix(tt.effects[0].Name(), plugin) && tt.status != 200; over && !strings.Contains(log.String(), `a-plugin-with-a-long-name\": its session values would have 327`) {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

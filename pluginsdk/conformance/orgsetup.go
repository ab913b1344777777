package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// orgSetup is the role of plugins that judge the organisation form.
func orgSetup() role {
	return role{
		name: pluginsdk.RoleOrgSetup,
		try: func(ctx context.Context, c *pluginsdk.Client, user pluginsdk.User) error {
			_, err := c.Handle(ctx, user, sample("/auth/intents/org-setup"))
			return err
		},
		checks: []check{{"judges all kinds of forms", (*subject).handles}},
	}
}

// forms are organisation forms as a host may send them.
func forms() map[string]map[string]pluginsdk.Value {
	form := func(name, size string, billing pluginsdk.Value) map[string]pluginsdk.Value {
		return map[string]pluginsdk.Value{
			"legal_form": int64(2), "org_name": name, "company_size": size, "function": "developer",
			"billing_email": billing, "marketing_consent": false,
		}
	}
	return map[string]map[string]pluginsdk.Value{
		"a small organisation":              form("Analytical Engines", "small", nil),
		"an enterprise without an address":  form("Analytical Engines", "enterprise", nil),
		"an enterprise with an address":     form("Analytical Engines", "enterprise", "bills@example.com"),
		"a name of 255 characters":          form(strings.Repeat("ü", 255), "solo", nil),
		"a name in another script":          form("株式会社 👩‍🚀", "growing", "ünï@example.com"),
		"a name that looks like markup":     form(`<script>alert("1")</script> %s ${x}`, "mid_market", "a@example.com"),
		"a form with a field of the future": {"legal_form": int64(1), "org_name": "x", "company_size": "solo", "function": "other", "billing_email": nil, "marketing_consent": true, "later": 1.5},
	}
}

func (s *subject) handles() error {
	for name, form := range forms() {
		for _, locale := range []string{"en", "de", "pt-BR", ""} {
			req := sample("/auth/intents/org-setup")
			req.Form, req.Locale = form, locale
			ctx, cancel := s.call()
			_, err := s.instance.Client.Handle(ctx, people()["a person with null columns"], req)
			cancel()
			if err := acceptable(err); err != nil {
				return fmt.Errorf("for %s, locale %q: %w", name, locale, err)
			}
		}
	}
	return nil
}

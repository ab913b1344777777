package auth_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// asking dispenses org_setup until the column partner_id is set, which its handler does.
type asking struct{}

func (asking) Dispense(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
	if !user.Columns.Has("partner_id") {
		return pluginsdk.OrgSetup(user.Name), nil
	}
	return pluginsdk.Redirect("/dashboard"), nil
}

func (asking) Handle(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Result, error) {
	return pluginsdk.Satisfied().With(pluginsdk.SetUser("partner_id", int64(7))), nil
}

// A satisfied step writes the columns, the session and the intent that the device
// keeps, all in one transaction.
func TestSatisfiedStepIsCommitted(t *testing.T) {
	r := newRig(t, func(o *auth.Options) {
		askOne(o, func() pluginsdk.Dispenser { return asking{} })
		o.OrgSetup = func() pluginsdk.OrgSetupHandler { return asking{} }
	})
	if _, err := r.db.Writer().Exec(`ALTER TABLE users ADD COLUMN partner_id INTEGER`); err != nil {
		t.Fatal(err)
	}
	session, _ := r.kept()
	var openOnDevice int
	look := func() {
		t.Helper()
		if err := r.db.Reader().Get(&openOnDevice, `SELECT COUNT(*) FROM vestibule_remember_tokens WHERE intent IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	}
	if who, _ := r.visit(session); who.Settled {
		t.Fatal("settled with a step open")
	}
	if look(); openOnDevice != 1 {
		t.Fatalf("%d devices keep the step", openOnDevice)
	}
	submit := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.SetPathValue("kind", "org-setup")
		r.Intent().ServeHTTP(w, req)
	})
	form := map[string]any{"legal_form": 2, "org_name": "Analytical Engines", "company_size": "small", "function": "developer", "marketing_consent": false}
	if a := r.post(submit, form, session); a.status != 200 {
		t.Fatalf("answer %d %q", a.status, a.message)
	}
	user, err := r.db.Users().FindByID(t.Context(), r.ada.ID)
	if err != nil || user.Columns["partner_id"] != int64(7) {
		t.Errorf("the user has %v, %v", user.Columns["partner_id"], err)
	}
	if who, _ := r.visit(session); !who.Settled {
		t.Error("the session is not settled")
	}
	if look(); openOnDevice != 0 {
		t.Error("the device keeps the step that is done")
	}
	r.post(submit, form, session).want(409, "intent_not_current")
}

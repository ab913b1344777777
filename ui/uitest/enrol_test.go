package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// Where nobody signs in with a password, somebody who was invited makes a passkey by the mailed
// link, once.
func TestRealInvitationToAPasskey(t *testing.T) {
	b := open(t)
	r := newRealWith(t, "", "auth {\n  password {\n    sign_in = false\n  }\n}\n")
	r.command("", "user", "add", "--email", "eve@example.com", "--name", "Eve", "--invite")
	link := strings.Replace(r.sink.link(t), "127.0.0.1", "localhost", 1) // browsers have no passkeys of an address
	browsertest.Call(b.Tab, webauthn.Enable, webauthn.EnableParams{})
	made := browsertest.Call(b.Tab, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		},
	})
	b.Visit(link)
	b.See("Make a passkey for your account")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#email').value + document.querySelectorAll('[type=password]').length`); got != "eve@example.com0" {
		t.Errorf("the screen shows %q, want the address and no password", got)
	}
	submit(b)
	b.See("Your passkey is ready")
	kept := browsertest.Call(b.Tab, webauthn.GetCredentials, webauthn.GetCredentialsParams(made))
	if len(kept.Credentials) != 1 || kept.Credentials[0].RpID != "localhost" || !kept.Credentials[0].IsResidentCredential {
		t.Errorf("the authenticator has %+v", kept.Credentials)
	}
	if list := r.command("", "passkey", "list", "--email", "eve@example.com"); strings.Count(list, "\n") != 1 {
		t.Errorf("passkeys of the host:\n%s", list)
	}
	b.Visit(link)
	b.See("has been used, has expired or is incomplete")
}

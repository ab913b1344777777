// A dispenser that holds people at a page until they have followed the link in a mail, so
// that an application knows that the address is theirs.
package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// mail is the name of the templates in mail.templates.
const mail = "verify-email"

type verifier struct {
	config struct {
		Secret   string        `config:"secret,required" doc:"The key that signs links, such as 32 random bytes as base64."`
		Page     string        `config:"page" default:"/verify-email" doc:"Where people wait."`
		Column   string        `config:"column" default:"email_verified_at" doc:"The user column that says when the address was verified."`
		Lifetime time.Duration `config:"lifetime" default:"24h" doc:"How long a link works."`
	}
	now func() time.Time
}

func (v *verifier) configure(_ context.Context, in pluginsdk.Setup) error {
	switch {
	case len(v.config.Secret) < 32:
		return pluginsdk.BadConfig("secret", "it must have 32 characters or more: try openssl rand -base64 32")
	case !in.CanRead(v.config.Column) || !in.CanWrite(v.config.Column):
		return pluginsdk.BadConfig("column", "add %q to user_read and user_write", v.config.Column)
	case !in.CanMail(mail):
		return pluginsdk.BadConfig("", "add %q to mails of the plugin", mail)
	}
	return nil
}

// dispense lets those pass whose address is verified. The others get a mail once for each
// session, and once more when the page asks for it.
func (v *verifier) dispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	if user.Columns.Has(v.config.Column) {
		return pluginsdk.Done(), nil
	}
	hold, done := pluginsdk.Redirect(v.config.Page).Hold(), pluginsdk.Done()
	token, posted := req.Form.Text("token") // by the page
	if link, err := url.Parse(req.Intended); err == nil && link.Path == v.config.Page {
		hold, done = hold.With(pluginsdk.ConsumeIntended()), done.With(pluginsdk.ConsumeIntended())
		token = cmp.Or(token, link.Query().Get("token")) // by who opened the link and signed in then
	}
	if v.valid(user, token) {
		return done.With(pluginsdk.SetUser(v.config.Column, v.now().UTC().Truncate(time.Second)).Replacing(nil)), nil
	}
	if posted {
		if strings.HasPrefix(req.Locale, "de") {
			return hold.Failed("Dieser Link gilt nicht mehr."), nil
		}
		return hold.Failed("This link is not valid any more."), nil
	}
	if req.Session.Has("sent") && !req.Form.Has("again") {
		return hold, nil
	}
	link := v.config.Page + "?token=" + url.QueryEscape(v.token(user, v.now().Add(v.config.Lifetime)))
	return hold.With(pluginsdk.SetSession("sent", true), pluginsdk.Mail(mail, map[string]string{"link": link})), nil
}

// token returns the end of a link and its signature, which holds for this address alone.
func (v *verifier) token(user pluginsdk.User, end time.Time) string {
	until := binary.BigEndian.AppendUint64(nil, uint64(end.Unix()))
	mac := hmac.New(sha256.New, []byte(v.config.Secret))
	_, _ = mac.Write(append(until, user.ID+"\x00"+user.Email...)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(until))
}

func (v *verifier) valid(user pluginsdk.User, token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < 8 {
		return false
	}
	end := time.Unix(int64(binary.BigEndian.Uint64(raw)), 0)
	return end.After(v.now()) && hmac.Equal([]byte(token), []byte(v.token(user, end)))
}

func newPlugin() (*verifier, pluginsdk.Plugin) {
	v := &verifier{now: time.Now}
	return v, pluginsdk.Plugin{
		Name: "verify-email", Version: "1.0.0", Description: "Holds people until their address is verified.",
		Dispenser: pluginsdk.DispenserFunc(v.dispense), Config: &v.config, Configure: v.configure,
	}
}

func main() {
	_, plugin := newPlugin()
	pluginsdk.Serve(plugin)
}

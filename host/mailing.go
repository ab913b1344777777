package host

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// queue is the pipeline's auth.Mailer: it queues mail in the outbox under the
// purposes that package mail has templates for.
type queue struct {
	outbox store.Outbox
	public bool // whether there is a public URL, which links begin with whatever was asked
}

// QueueReset queues the mail with the link to set a new password.
func (q queue) QueueReset(ctx context.Context, userID, locale, base string) error {
	return q.queue(ctx, mail.Item{UserID: userID, Purpose: mail.PasswordReset, Locale: locale, Base: base})
}

// QueueChanged queues the notice that the password was changed with a device.
func (q queue) QueueChanged(ctx context.Context, userID, locale, base, device string) error {
	return q.queue(ctx, mail.Item{UserID: userID, Purpose: mail.PasswordChanged, Locale: locale, Base: base, Device: device})
}

func (q queue) queue(ctx context.Context, m mail.Item) error {
	if q.public {
		m.Base = ""
	}
	return q.outbox.Queue(ctx, m)
}

// QueueNotice queues another notice. Its kinds are the purposes of package mail.
func (q queue) QueueNotice(ctx context.Context, kind auth.Notice, userID, locale, device string) error {
	return q.outbox.Queue(ctx, mail.Item{UserID: userID, Purpose: string(kind), Locale: locale, Device: device})
}

func (o Options) mailOptions(l letters, metrics *telemetry.Metrics) mail.Options {
	host := o.Server.Address
	if u := o.Server.PublicURL; u != nil {
		host = u.Host
	}
	return mail.Options{
		Config: o.Mail, Outbox: o.Store.Outbox(), Resolve: l.letter,
		App: o.UI.AppName, Host: host,
		Log: o.Logger.Named("mail"), Now: o.Now,
		Observe: metrics.Mail,
	}
}

// letters turns items of the outbox into letters at the moment of sending.
type letters struct {
	signIn *auth.Pipeline
	site   *web.Site
	public func(name string) bool // whether there is a public file
}

// mailLogo is the application's logo among its public files in a form that mail programs
// show, which for most of them SVG is not.
const mailLogo = "assets/ci/logo-mail.png"

func (l letters) letter(ctx context.Context, item mail.Item) (mail.Letter, error) {
	base, host := l.site.MailBase(item.Base)
	logo := ""
	if l.public(mailLogo) {
		logo = base + "/" + mailLogo
	}
	if item.Purpose == mail.PasswordReset {
		user, link, err := l.resetLink(ctx, item.UserID, base)
		if err != nil {
			return mail.Letter{}, notWanted(err)
		}
		return mail.Letter{To: user.Email, Name: user.Name, Link: link, Logo: logo, Host: host, ValidFor: l.signIn.ResetLifetime}, nil
	}
	user, err := l.signIn.Users.FindByID(ctx, item.UserID)
	if err != nil {
		return mail.Letter{}, notWanted(err)
	}
	if !user.MaySignIn() || user.Email == "" {
		return mail.Letter{}, mail.ErrNotWanted
	}
	return mail.Letter{To: user.Email, Name: user.Name, Link: base + "/login#/forgot-password", Logo: logo, Host: host}, nil
}

// resetLink issues a reset token and returns the link with it: the token as a path
// parameter, the address as a query.
func (l letters) resetLink(ctx context.Context, userID, base string) (auth.User, string, error) {
	user, token, err := l.signIn.MintReset(ctx, userID)
	email := strings.ReplaceAll(url.QueryEscape(user.Email), "+", "%20")
	return user, base + "/password/reset/" + url.PathEscape(token) + "?email=" + email, err
}

func notWanted(err error) error {
	if errors.Is(err, auth.ErrNotFound) {
		return mail.ErrNotWanted
	}
	return err
}

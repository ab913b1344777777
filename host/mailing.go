package host

import (
	"context"
	"errors"
	"net/url"
	"slices"
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
	texts  sealer
	kick   func() // has the outbox looked into soon
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
	defer q.kick()
	return q.outbox.Queue(ctx, m)
}

// QueueNotice queues another notice. Its kinds are the purposes of package mail.
func (q queue) QueueNotice(ctx context.Context, kind auth.Notice, userID, locale, device string) error {
	return q.queue(ctx, mail.Item{UserID: userID, Purpose: string(kind), Locale: locale, Device: device})
}

// QueueTexts queues the mail of a plugin, whose texts are sealed.
func (q queue) QueueTexts(ctx context.Context, name string, texts map[string]string, userID, locale, base string) error {
	m := mail.Item{UserID: userID, Purpose: name[strings.Index(name, "/")+1:], Locale: locale, Base: base}
	var err error
	if m.Sealed, err = q.texts.seal(ctx, m, texts); err != nil {
		return err
	}
	return q.queue(ctx, m)
}

// pluginMails returns the mails that plugins, and the embedding program, may send.
func (o Options) pluginMails() []string {
	list := slices.Clone(o.Mail.Mails)
	for _, p := range o.Plugins {
		list = append(list, p.Mails...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (o Options) mailOptions(l letters, metrics *telemetry.Metrics) mail.Options {
	o.Mail.Mails = o.pluginMails()
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
	texts  sealer
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
	switch item.Purpose {
	case mail.PasswordReset:
		if l.signIn.PasswordOff { // it was on when the mail was queued
			return mail.Letter{}, mail.ErrNotWanted
		}
		user, link, err := l.resetLink(ctx, item.UserID, base)
		if err != nil {
			return mail.Letter{}, notWanted(err)
		}
		letter := mail.Letter{To: user.Email, Name: user.Name, Link: link, Logo: logo, Host: host, ValidFor: l.signIn.ResetLifetime}
		letter.Passkeys, letter.Identities, err = l.ways(ctx, user)
		return letter, err
	case mail.Invitation:
		user, token, err := l.signIn.MintInvitation(ctx, item.UserID)
		return mail.Letter{To: user.Email, Name: user.Name, Link: linkWith(base, token, user), Logo: logo, Host: host, ValidFor: l.signIn.InvitationLifetime(), Passkey: l.signIn.LinksMakePasskeys(), Elsewhere: l.signIn.LinksLinkIdentities()}, notWanted(err)
	}
	user, err := l.signIn.Users.FindByID(ctx, item.UserID)
	if err != nil {
		return mail.Letter{}, notWanted(err)
	}
	if !user.MaySignIn() || user.Email == "" {
		return mail.Letter{}, mail.ErrNotWanted
	}
	letter := mail.Letter{To: user.Email, Name: user.Name, Link: base + "/login#/forgot-password", Logo: logo, Host: host}
	if l.signIn.PasswordOff { // there is no new password to ask for
		letter.Link, letter.Passkey = base+"/login?account", true
	}
	if item.Sealed == "" {
		if item.Purpose == mail.PasswordChanged {
			letter.Passkeys, letter.Identities, err = l.ways(ctx, user)
		}
		return letter, err
	}
	letter.Link = base + "/login"
	letter.Texts, err = l.texts.open(ctx, item)
	for name, text := range letter.Texts {
		if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
			letter.Texts[name] = base + text
		}
	}
	return letter, err
}

// mostPasskeys is how many passkeys a mail names.
const mostPasskeys = 20

// ways returns what a user signs in with besides the password.
func (l letters) ways(ctx context.Context, user auth.User) (passkeys, identities []mail.Way, err error) {
	if passkeys, err = l.passkeys(ctx, user.ID); err != nil {
		return nil, nil, err
	}
	own, err := l.signIn.OwnIdentities(ctx, user)
	for _, i := range own {
		identities = append(identities, mail.Way{Name: i.Label, Created: i.Linked})
	}
	return passkeys, identities, err
}

// passkeys returns the passkeys of a user, which a new password does not end.
func (l letters) passkeys(ctx context.Context, userID string) ([]mail.Way, error) {
	if l.signIn.PasskeysOff {
		return nil, nil
	}
	list, err := l.signIn.Passkeys.List(ctx, userID, mostPasskeys)
	var ways []mail.Way
	for _, p := range list {
		ways = append(ways, mail.Way{Name: p.Name, Created: p.Created})
	}
	return ways, err
}

// resetLink issues a reset token and returns the link with it.
func (l letters) resetLink(ctx context.Context, userID, base string) (auth.User, string, error) {
	user, token, err := l.signIn.MintReset(ctx, userID)
	return user, linkWith(base, token, user), err
}

// linkWith returns the link to set a password: the token as a path parameter, the address
// as a query.
func linkWith(base, token string, user auth.User) string {
	email := strings.ReplaceAll(url.QueryEscape(user.Email), "+", "%20")
	return base + "/password/reset/" + url.PathEscape(token) + "?email=" + email
}

func notWanted(err error) error {
	if errors.Is(err, auth.ErrNotFound) {
		return mail.ErrNotWanted
	}
	return err
}

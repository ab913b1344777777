package host

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// thenMail wakes the mail worker after a request that may have queued mail, once
// its transaction is over.
func (h *Host) thenMail(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer h.mail.Kick()
		next.ServeHTTP(w, r)
	})
}

// queue is the pipeline's auth.Mailer: it queues mail in the outbox under the
// purposes that package mail has templates for.
type queue struct{ outbox store.Outbox }

// QueueReset queues the mail with the link to set a new password.
func (q queue) QueueReset(ctx context.Context, userID, locale string) error {
	return q.outbox.Enqueue(ctx, userID, mail.PasswordReset, locale)
}

// QueueChanged queues the notice that the password was changed.
func (q queue) QueueChanged(ctx context.Context, userID, locale string) error {
	return q.outbox.Enqueue(ctx, userID, mail.PasswordChanged, locale)
}

func (h *Host) mailOptions() mail.Options {
	host := h.o.Server.Address
	if u := h.o.Server.PublicURL; u != nil {
		host = u.Host
	}
	return mail.Options{
		Config: h.o.Mail, Outbox: h.o.Store.Outbox(), Resolve: h.letter,
		App: h.o.UI.AppName, Host: host,
		Log: h.o.Logger.Named("mail"), Now: h.o.Now,
		Observe: func(purpose string, o mail.Outcome) { h.metrics.Mail(purpose, string(o)) },
	}
}

// letter turns an item of the outbox into a letter at the moment of sending.
func (h *Host) letter(ctx context.Context, item mail.Item) (mail.Letter, error) {
	if item.Purpose == mail.PasswordReset {
		user, token, err := h.pipeline.MintReset(ctx, item.UserID)
		if err != nil {
			return mail.Letter{}, notWanted(err)
		}
		return mail.Letter{
			To: user.Email, Name: user.Name,
			Link: resetLink(h.linkBase(), token, user.Email), ValidFor: h.pipeline.ResetLifetime,
		}, nil
	}
	user, err := h.o.Store.Users().FindByID(ctx, item.UserID)
	if err != nil {
		return mail.Letter{}, notWanted(err)
	}
	if user.Disabled || user.Email == "" {
		return mail.Letter{}, mail.ErrNotWanted
	}
	return mail.Letter{To: user.Email, Name: user.Name}, nil
}

func notWanted(err error) error {
	if errors.Is(err, auth.ErrNotFound) {
		return mail.ErrNotWanted
	}
	return err
}

// linkBase is the origin of links in mails: without a public URL the address that
// the host listens on, which is a loopback one then.
func (h *Host) linkBase() string {
	if u := h.o.Server.PublicURL; u != nil {
		return auth.Origin(u)
	}
	scheme := "http://"
	if h.o.Server.LoadTLS != nil {
		scheme = "https://"
	}
	if address := h.listening.Load(); address != nil {
		return scheme + *address
	}
	return scheme + h.o.Server.Address
}

// resetLink is the address in a reset mail: the token as a path parameter, the
// address as a query.
func resetLink(base, token, email string) string {
	return base + "/password/reset/" + url.PathEscape(token) + "?email=" + strings.ReplaceAll(url.QueryEscape(email), "+", "%20")
}

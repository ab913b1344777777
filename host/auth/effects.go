package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Plugins may send a user maxMails mails in mailWindow.
const (
	maxMails   = 10
	mailWindow = time.Hour
)

// applyEffects writes the columns that a step sets and queues its mails. It belongs into a
// transaction, and fails with errReplaced if a column has another value by now than the
// effect on it replaces.
func (p *Pipeline) applyEffects(ctx context.Context, userID string, st step) error {
	if err := p.writeColumns(ctx, userID, st); err != nil {
		return err
	}
	for _, mail := range st.mails {
		count, _, err := p.Throttle.Hit(ctx, Counter{Kind: countPluginMail, Login: userID}, p.Now(), mailWindow)
		if err != nil {
			return err
		}
		if count > maxMails {
			p.Logger.Warn("a mail of a plugin is dropped, because the user got too many within an hour", "mail", mail.Name(), "user", userID, "limit", maxMails)
			p.MailDropped(mail.Name())
			continue
		}
		if err := p.Mailer.QueueTexts(ctx, mail.Name(), mail.Texts(), userID, st.locale, st.base); err != nil {
			return err
		}
	}
	return nil
}

// ApplyTold applies the effects of a listener, which has no session, to the user of an
// event, in one transaction with take, which reports whether the event was still to be
// delivered. Nothing is applied to a user who is gone. applied is false if a column has
// another value than the effect on it replaces: then nothing was written, and the event is
// still to be delivered.
func (p *Pipeline) ApplyTold(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) (applied bool, err error) {
	var st step
	if err := st.collect(effects, p.LoginField); err != nil {
		return false, fmt.Errorf("%w: %w", pluginsdk.ErrContract, err)
	}
	err = p.Tx.Settle(ctx, func(ctx context.Context) error {
		_, gone := p.Users.Lock(ctx, userID) // before the event, as locks are taken in that order
		if gone != nil && !errors.Is(gone, ErrNotFound) {
			return gone
		}
		wanted, err := take(ctx)
		if err != nil || !wanted || gone != nil {
			return err
		}
		return p.applyEffects(ctx, userID, st)
	})
	if errors.Is(err, errReplaced) {
		return false, nil
	}
	return err == nil, err
}

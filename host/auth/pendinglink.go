package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/seal"
)

// maxLink bounds the text of the cookie, since browsers refuse one of more than 4 KiB.
const maxLink = 3900

// linkCookie keeps a pending link. One without a value ends it.
func (p *Pipeline) linkCookie(value string) *http.Cookie {
	return p.ownCookie("vestibule_link", value, identity.Lifetime)
}

// boundLink returns the use that sealed links are bound to.
func boundLink() []byte { return []byte("vestibule identity link") }

func (p *Pipeline) linkBox(ctx context.Context) (seal.Box, error) {
	key, err := p.identityKey(ctx)
	if err != nil {
		return seal.Box{}, err
	}
	return seal.New(key)
}

// askToConfirm keeps the identity in the browser, and returns the sign-in page, which names it.
func (v *visit) askToConfirm() (target string, err error) {
	box, err := v.linkBox(v.r.Context())
	if err != nil {
		return "", err
	}
	var st step
	if err := st.collect(v.effects, v.LoginField); err != nil {
		return "", contractFault(err)
	}
	link := identity.Link{
		ID: random(32), Name: v.from.Name, Subject: v.identity.Subject, Account: v.shownAccount(),
		Ends: v.Now().Add(identity.Lifetime).Unix(),
	}
	if link.Columns, err = keptValues(Session{Values: st.columns}); err != nil {
		return "", err
	}
	plain, err := json.Marshal(link)
	if err != nil {
		return "", err
	}
	text := box.Seal(plain, boundLink())
	if len(text) > maxLink {
		v.Logger.Warn("what the identity provider sets is too large to be kept until the link is confirmed: its next sign-in sets it",
			"request_id", RequestOf(v.r.Context()).ID, "identity", v.from.Name)
		link.Columns = nil
		if plain, err = json.Marshal(link); err != nil {
			return "", err
		}
		text = box.Seal(plain, boundLink())
	}
	http.SetCookie(v.w, v.linkCookie(text))
	return signInPage, nil
}

// shownAccount returns how the sign-in page names the identity. An address that the provider has not verified may be that of
// the person who is to be deceived, as an address or as a name: the page shows none.
func (v *visit) shownAccount() string {
	switch {
	case v.identity.EmailVerified && v.identity.Email != "":
		return v.identity.Email
	case strings.Contains(v.identity.Name, "@"):
		return ""
	}
	return v.identity.Name
}

// pendingLink returns the identity that the next sign-in of a browser links; nil for none.
func (p *Pipeline) pendingLink(r *http.Request) (*identity.Link, error) {
	text := kept(r, p.linkCookie(""))
	if text == "" || len(p.Identities) == 0 || p.Secrets == nil {
		return nil, nil
	}
	box, err := p.linkBox(r.Context())
	if err != nil {
		return nil, err
	}
	plain, ok := box.Open(text, boundLink())
	link := new(identity.Link)
	if ok {
		ok = json.Unmarshal(plain, link) == nil
	}
	ends, now := time.Unix(link.Ends, 0), p.Now()
	// A clock that ran ahead gives no link a longer life, and another configuration may have had the provider.
	if !ok || !now.Before(ends) || ends.After(now.Add(2*identity.Lifetime)) || !p.linksLater(link.Name) {
		return nil, nil
	}
	return link, nil
}

// linksLater reports whether an identity of the name may be pending.
func (p *Pipeline) linksLater(name string) bool {
	from, err := p.providerNamed(name)
	return err == nil && from.Link == identity.LinkConfirm
}

// ShowPendingLink returns the identity that the next sign-in of a guest's browser links; nil for none, and where the
// database that has the key is away.
func (p *Pipeline) ShowPendingLink(r *http.Request, s Session) *identity.ShownLink {
	if s.SignedIn() {
		return nil
	}
	link, err := p.pendingLink(r)
	if err != nil {
		p.Logger.Warn("the sign-in page does not name the identity that it links", "request_id", RequestOf(r.Context()).ID, "cause", err)
	}
	if link == nil {
		return nil
	}
	i := slices.IndexFunc(p.Identities, func(one identity.Provider) bool { return one.Name == link.Name })
	return &identity.ShownLink{Name: link.Name, Label: p.Identities[i].Label, Account: link.Account}
}

// takeLink gives a pending link to the session that a sign-in starts, in the transaction of ctx. One that was spent before
// is not taken.
func (p *Pipeline) takeLink(ctx context.Context, link *identity.Link, next *Session) error {
	if link == nil {
		return nil
	}
	err := p.Linked.Spend(ctx, link.ID, time.Unix(link.Ends, 0))
	if err == nil {
		next.Link = link
	}
	return err
}

// linkSettled links the identity that a session has taken once the person is settled. It joins the transaction of ctx, and
// returns the link that was made; nil for none. An identity that somebody has by then, or a person who has another one of
// the name, is no reason to refuse the step.
func (p *Pipeline) linkSettled(ctx context.Context, r *http.Request, s *Session) (*identity.Link, error) {
	link := s.Link
	if link == nil || !s.Settled() {
		return nil, nil
	}
	s.Link = nil
	if !p.linksLater(link.Name) {
		return nil, nil // the configuration was changed meanwhile
	}
	user, err := p.Users.Lock(ctx, s.UserID)
	if err != nil {
		return nil, err
	}
	own, err := p.identitiesOf(ctx, user)
	if err != nil {
		return nil, err
	}
	for _, i := range own {
		if i.Name == link.Name {
			return nil, nil
		}
	}
	if _, err := p.identityOwner(ctx, link.Name, link.Subject); !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err := p.addIdentity(ctx, user, link.Name, link.Subject); err != nil {
		return nil, err
	}
	columns, err := restoreColumns(link.Columns)
	if err != nil {
		return nil, err
	}
	if err := p.writeColumns(ctx, user.ID, step{columns: columns}); err != nil {
		return nil, err
	}
	return link, p.tellOfIdentity(ctx, r, user, "identity_link", link.Name)
}

// linked leaves the audit line of a link after its transaction.
func (p *Pipeline) linked(r *http.Request, userID string, link *identity.Link) {
	if link != nil {
		p.audit(r, "identity_link", "user", userID, "subject", link.Name)
	}
}

// onceMore reports whether a transaction is tried again, with fresh columns: an effect is to replace a value that a column no
// longer has, or somebody else has linked the identity meanwhile, which the next try finds.
func onceMore(err error) bool {
	return errors.Is(err, errReplaced) || errors.Is(err, identity.ErrKnown)
}

package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An identityError holds the reason for which the answer of a provider is refused. The page has the code, the log the reason.
type identityError struct {
	// code is that of the fault, and reason a word for the log.
	code, reason string
	// text is a sentence of the provider for the person; empty for none.
	text string
	// userID and subject are whose identity it is; empty where nobody knows.
	userID, subject string
	cause           error
}

// Error names the reason.
func (e *identityError) Error() string { return "the identity is refused: " + e.reason }

// A visit is a browser that a provider has sent back.
type visit struct {
	*Pipeline
	w       http.ResponseWriter
	r       *http.Request
	from    identity.Provider
	session Session
	pending identity.Pending
	// client is the counter of failures that the callback is counted in; the zero one before it is.
	client Counter
	// identity is the person as the provider knows them, and effects are the changes of its plugin.
	identity pluginsdk.Identity
	effects  []pluginsdk.Effect
}

// IdentityCallback answers GET /auth/identity/{name}/callback. The state says for which purpose the browser was sent away,
// and opens in that browser and session alone, once.
func (p *Pipeline) IdentityCallback() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		from, err := p.providerNamed(r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := onlyGet(w, r); err != nil {
			return err
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		v := visit{Pipeline: p, w: w, r: r, from: from}
		target, err := v.answer()
		refused, ok := errors.AsType[*identityError](err)
		if ok {
			err = v.refuse(refused)
		} else if f, ok := errors.AsType[*fault.Fault](err); err == nil || !ok || f.Status() >= http.StatusInternalServerError {
			p.refund(r, waitAfter(err), v.client) // which counts failures
		}
		if err != nil {
			p.Fail(w, v.r, beginsAgain(err, v.home())) // in the language of the state
			return nil
		}
		leave(w, v.inLanguage(target))
		return nil
	})
}

// home returns where the person begins anew.
func (v *visit) home() string {
	if v.pending.Purpose == identity.Join || v.pending.Purpose == identity.Confirm {
		return accountPage
	}
	return signInPage
}

// signInPage is where people sign in, and where a step of the front-end app is shown.
const signInPage = "/login"

// inLanguage returns a page of the sign-in in the language that the person has chosen, and other targets as they are.
func (v *visit) inLanguage(target string) string {
	lang := v.pending.Language
	switch {
	case lang != "" && target == signInPage:
		return target + "?lang=" + lang
	case lang != "" && target == accountPage:
		return target + "&lang=" + lang
	}
	return target
}

// refuse leaves an audit line and returns the fault with the page.
func (v *visit) refuse(e *identityError) error {
	args := []any{"identity", v.from.Name, "purpose", v.pending.Purpose.String(), "reason", e.reason}
	if e.userID != "" {
		args = append(args, "user", e.userID)
	}
	if e.subject != "" {
		args = append(args, "subject", words.Printable(e.subject, maxCause))
	}
	if e.cause != nil {
		args = append(args, "cause", words.Printable(e.cause.Error(), maxCause))
	}
	v.audit(v.r, "identity_refused", args...)
	return &fault.Fault{Code: e.code, Text: e.text}
}

// answer verifies what the provider says, and returns where the person goes.
func (v *visit) answer() (target string, err error) {
	parameters, err := callbackParameters(v.r)
	if err != nil {
		return "", err
	}
	if v.session, err = v.load(v.r); err != nil {
		return "", err
	}
	if err := v.takeState(parameters["state"]); err != nil {
		return "", err
	}
	if err := v.finish(parameters); err != nil {
		return "", err
	}
	switch v.pending.Purpose {
	case identity.SignIn:
		return v.signIn()
	case identity.Join:
		return v.link()
	case identity.Confirm:
		return v.confirm()
	case identity.Invitation:
		return v.accept()
	}
	return "", &identityError{code: fault.IdentityState, reason: "state"}
}

// takeState finds the state in the browser's cookie and spends it, before the plugin is asked: a provider takes a code once.
// The callback counts for the client from then on, and not without a state: each page elsewhere can send browsers here. Of
// the query only the language is left, because what the provider sends is for its plugin alone.
func (v *visit) takeState(text string) error {
	states, err := v.states(v.r.Context())
	if err != nil {
		return err
	}
	pending, ok := states.Find(kept(v.r, v.stateCookie("")), text, boundToSession(v.from, v.session), v.Now())
	if !ok {
		return &identityError{code: fault.IdentityState, reason: "state"}
	}
	v.pending = pending
	asked := *v.r
	asked.URL = &url.URL{Path: v.r.URL.Path}
	if pending.Language != "" {
		asked.URL.RawQuery = "lang=" + pending.Language
	}
	v.r = &asked
	client := Counter{Kind: "client", Client: RequestOf(v.r.Context()).Network}
	if err := v.takeAttempt(v.r, client, v.ClientAttempts, "identity"); err != nil {
		return err
	}
	v.client = client
	err = v.Tx.InTx(v.r.Context(), func(ctx context.Context) error { return v.Linked.Spend(ctx, pending.State, pending.Ends()) })
	if errors.Is(err, identity.ErrSpent) {
		err = &identityError{code: fault.IdentityState, reason: "spent"}
	}
	return err
}

// finish asks the plugin who the person is.
func (v *visit) finish(parameters map[string]string) error {
	provider := v.Provider(v.from.Name)
	if provider == nil {
		return identityFault(v.from.Name, pluginsdk.ErrUnavailable)
	}
	result, err := provider.Finish(v.r.Context(), pluginsdk.FinishRequest{
		ID: RequestOf(v.r.Context()).ID, Callback: v.Site.Base(v.r) + identity.Path(v.from.Name) + "/callback", Parameters: parameters,
		Private: v.pending.Private, Locale: v.Site.Locale(v.r), Fresh: v.pending.Purpose == identity.Confirm,
	})
	if err == nil {
		err = checkIdentity(result, v.LoginField)
	}
	if err != nil {
		return identityFault(v.from.Name, err)
	}
	found := false
	if v.identity, found = result.Identity(); !found {
		return &identityError{code: fault.IdentityRefused, reason: "refused_there", text: result.Reason()}
	}
	v.effects = result.Effects()
	return nil
}

// checkIdentity refuses what no host can keep or apply. Providers of the embedding program pass no other check.
func checkIdentity(result pluginsdk.IdentityResult, loginField string) error {
	i, found := result.Identity()
	var st step
	switch err := st.collect(result.Effects(), loginField); {
	case err != nil:
		return errors.Join(pluginsdk.ErrContract, err)
	case st.consume || st.values != nil || st.mails != nil || st.replaced != nil:
		return errors.Join(pluginsdk.ErrContract, errors.New("an identity provider sets columns alone"))
	case found && (i.Subject == "" || words.Printable(i.Subject, maxSubject) != i.Subject):
		return errors.Join(pluginsdk.ErrContract, errors.New("the subject is not 1 to 255 printable bytes"))
	}
	return nil
}

// maxSubject bounds a subject, in bytes.
const maxSubject = 255

// applyIdentity writes the columns that the plugin sets. It joins the transaction of ctx.
func (v *visit) applyIdentity(ctx context.Context, userID string) error {
	var st step
	if err := st.collect(v.effects, v.LoginField); err != nil {
		return contractFault(err)
	}
	return v.writeColumns(ctx, userID, st)
}

// addIdentity links an identity to a user in the transaction of ctx, in which the user is locked. Rows of users who are
// gone are replaced. An invitation of the user, who needs none from then on, ends. It returns [identity.ErrKnown] and
// [identity.ErrHasOne].
func (p *Pipeline) addIdentity(ctx context.Context, user User, name, subject string) error {
	_, err := p.identityOwner(ctx, name, subject)
	if err == nil {
		return identity.ErrKnown
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	stale, err := p.Linked.Find(ctx, name, subject)
	if err == nil {
		err = p.Linked.Delete(ctx, name, stale.UserID)
	}
	if err := ignoreNotFound(err); err != nil {
		return err
	}
	own, err := p.Linked.List(ctx, user.ID, maxListed)
	if err != nil {
		return err
	}
	for _, i := range own {
		if i.Name != name || !olderThan(user, i.Created) {
			continue
		}
		if err := p.Linked.Delete(ctx, name, user.ID); err != nil {
			return err
		}
	}
	if err := p.Linked.Add(ctx, identity.Identity{Name: name, Subject: subject, UserID: user.ID, Created: p.Now()}); err != nil || p.Invitations == nil {
		return err
	}
	return p.Invitations.End(ctx, user.ID)
}

// tellOfIdentity leaves the row of audit of a new identity and queues the mail that tells the person. It joins the
// transaction of ctx.
func (p *Pipeline) tellOfIdentity(ctx context.Context, r *http.Request, user User, act, name string) error {
	if err := p.Mailer.QueueNotice(ctx, noticeIdentity, user.ID, p.Site.Locale(r), browserName(r.UserAgent())); err != nil {
		return err
	}
	return p.Record(ctx, ownOperator(user.ID), act, name)
}

package host_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A result is what became of an operation: done, refused, or the text of a failure,
// which no race may lead to.
type result string

const (
	done    result = "done"
	refused result = "refused"
)

func resultOf(err error) result {
	switch {
	case err == nil:
		return done
	case errors.Is(err, auth.ErrNotFound), errors.Is(err, host.ErrReplaced), errors.Is(err, errTold), strings.HasPrefix(err.Error(), "no session "), strings.HasPrefix(err.Error(), "no user "):
		return refused
	}
	return result("failed: " + err.Error())
}

// An operation is one side of a race, carried out by host 0 or 1.
type operation struct {
	name string
	run  func(s *scene, ctx context.Context, on int) result
	// disabled is set when the person is disabled before the operation.
	disabled bool
	// tokens says that machine tokens are all it changes, so that it is not raced with
	// what leaves them and people alone.
	tokens bool
	// signsIn says that it leaves people, and so their tokens, alone.
	signsIn bool
	// effect says that it sets the one column that operations set, and held that it
	// answers a step that holds: whoever is late there is told what the first led to.
	effect, held bool
	// asked is set for what concerns the step that the person has asked for at the desk, and
	// answers for the answer to that step.
	asked, answers bool
	// own is set for an operation in the settled session of the phone, which is raced with what
	// concerns that session alone. others is set where it concerns the laptop's from there.
	own, others bool
	// all says that it concerns all sessions of the person, and so the tablet's, which is
	// the one that a step holds.
	all bool
	// identity is set for what concerns accounts elsewhere, which is raced with its like and with what concerns all sessions.
	identity bool
	// tells marks the operation that applies the effects of a listener. renames marks one of
	// the application, which is raced with the former alone.
	tells, renames bool
}

// races reports whether two operations may get in each other's way.
func (o operation) races(with operation) bool {
	if o.asked || with.asked {
		return o.asked && with.asked || (o.answers || with.answers) && (o.all || with.all)
	}
	if o.identity || with.identity {
		return (o.identity || o.all) && (with.identity || with.all)
	}
	if o.renames || with.renames {
		return o.tells || with.tells
	}
	if o.held || with.held {
		return o.all || with.all
	}
	if o.others && with.signsIn || o.signsIn && with.others {
		return true
	}
	if o.own || with.own {
		return o.concernsThePhone() && with.concernsThePhone()
	}
	return !(o.tokens && with.signsIn || o.signsIn && with.tokens)
}

func (o operation) concernsThePhone() bool { return o.own || o.all || o.name == "make token" }

func operations() []operation {
	return []operation{
		{name: "sign in", run: (*scene).signIn, signsIn: true},
		{name: "come back", run: (*scene).comeBack, signsIn: true},
		{name: "come back within the grace", run: (*scene).comeBackLate, signsIn: true},
		{name: "reset", run: (*scene).reset, all: true},
		{name: "disable", run: (*scene).disable, all: true},
		{name: "enable", run: (*scene).enable, disabled: true},
		{name: "revoke", run: (*scene).revoke},
		{name: "revoke all", run: (*scene).revokeAll, all: true},
		{name: "revoke everybody", run: (*scene).revokeEverybody, all: true},
		{name: "sign out", run: (*scene).signOut, signsIn: true},
		{name: "delete", run: (*scene).delete, all: true},
		{name: "effect", run: (*scene).effect, signsIn: true, effect: true},
		{name: "accept", run: (*scene).accept, signsIn: true, effect: true, held: true},
		{name: "ask for a step", run: (*scene).askForStep, asked: true},
		{name: "answer a step asked for", run: (*scene).answerAsked, effect: true, asked: true, answers: true},
		{name: "give a step up", run: (*scene).giveStepUp, asked: true},
		{name: "sign out at the desk", run: (*scene).signOutAtDesk, asked: true},
		{name: "confirm", run: (*scene).confirm, own: true},
		{name: "change password", run: (*scene).changePassword, own: true},
		{name: "end session", run: (*scene).endSession, own: true, others: true},
		{name: "sign out of the phone", run: (*scene).signOutOfThePhone, own: true},
		{name: "tell", run: (*scene).tell, signsIn: true, tells: true},
		{name: "rename", run: (*scene).rename, renames: true},
		{name: "use token", run: (*scene).useToken},
		{name: "make token", run: (*scene).makeToken, tokens: true},
		{name: "sign in by passkey", run: (*scene).signInByPasskey, signsIn: true},
		{name: "make passkey", run: (*scene).makePasskey, signsIn: true},
		{name: "delete passkey", run: (*scene).deletePasskey, signsIn: true},
		{name: "sign in by identity", run: (*scene).signInByIdentity, identity: true},
		{name: "link identity", run: (*scene).linkIdentity, identity: true},
		{name: "link identity again", run: (*scene).linkAgain, identity: true},
		{name: "unlink identity", run: (*scene).unlinkIdentity, identity: true},
		{name: "end identity", run: (*scene).endIdentity, identity: true},
		{name: "revoke token", run: (*scene).revokeToken, tokens: true},
	}
}

func (s *scene) useToken(ctx context.Context, on int) result {
	return s.opensWith(ctx, on, s.machine)
}

// makeToken is what the person does in the settled session of the phone.
func (s *scene) makeToken(ctx context.Context, on int) result {
	w := s.send(ctx, on, "POST", "/auth/tokens", `{"name":"new"}`, http.Header{"Cookie": {s.phone.sessionCookie()}})
	var made struct{ Token string }
	if w.Code == http.StatusCreated && json.Unmarshal(w.Body.Bytes(), &made) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made = append(s.made, made.Token)
	}
	return statusResult(w)
}

// confirm gives the password again in the settled session of the phone.
func (s *scene) confirm(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/account/confirm", fmt.Sprintf(`{"password":%q}`, adaPassword), s.phone.sessionCookie())
}

// changePassword sets a password in the settled session of the phone.
func (s *scene) changePassword(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/account/password", fmt.Sprintf(`{"password":%q,"password_confirmation":%[1]q}`, newPassword), s.phone.sessionCookie())
}

// endSession ends the laptop's session, at the phone.
func (s *scene) endSession(ctx context.Context, on int) result {
	id := auth.Session{Key: s.laptop.hash}.ID()
	return s.request(ctx, on, "DELETE", "/auth/account/sessions/"+id, "", s.phone.sessionCookie())
}

func (s *scene) signOutOfThePhone(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/logout", "", s.phone.sessionCookie(), s.phone.deviceCookie(s.phone.verifier))
}

func (s *scene) revokeToken(ctx context.Context, on int) result {
	err := s.hosts[on].admin.RevokeToken(ctx, fmt.Sprintf("token-%d", s.number))
	if err != nil && strings.HasPrefix(err.Error(), "no token ") {
		return refused
	}
	return resultOf(err)
}

// signInByPasskey answers a challenge that the laptop has got before the race.
func (s *scene) signInByPasskey(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/passkeys/login", fmt.Sprintf(`{"credential":%s,"remember":true}`, s.answers.signIn), s.answers.signInCookie)
}

// makePasskey adds a passkey in the settled session of the phone.
func (s *scene) makePasskey(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/account/passkeys", fmt.Sprintf(`{"credential":%s,"name":"new"}`, s.answers.create), s.phone.sessionCookie()+"; "+s.answers.createCookie)
}

// deletePasskey ends the person's passkey by command.
func (s *scene) deletePasskey(ctx context.Context, on int) result {
	err := s.hosts[on].admin.DeletePasskey(ctx, s.email, fmt.Sprintf("passkey-%d", s.number))
	if err != nil && strings.Contains(err.Error(), " has no passkey ") {
		return refused
	}
	return resultOf(err)
}

// signInByIdentity comes back from the provider of "company", to which the laptop was sent before the race.
func (s *scene) signInByIdentity(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/identity/company/callback?state="+s.answers.stateText, "", s.answers.stateCookie)
}

// linkIdentity comes back from the provider of "third" in the settled session of the phone, which was sent there once for
// each host. The person has no identity there.
func (s *scene) linkIdentity(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/identity/third/callback?state="+s.answers.linkTexts[on], "", s.phone.sessionCookie()+"; "+s.answers.linkCookie)
}

// linkAgain links the identity of "other", which the person has, and which unlinkIdentity ends.
func (s *scene) linkAgain(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/identity/other/callback?state="+s.answers.againTexts[on], "", s.phone.sessionCookie()+"; "+s.answers.againCookie)
}

func (s *scene) unlinkIdentity(ctx context.Context, on int) result {
	return s.request(ctx, on, "DELETE", "/auth/account/identities/other", "", s.phone.sessionCookie())
}

// endIdentity unlinks the identity of "company" by command.
func (s *scene) endIdentity(ctx context.Context, on int) result {
	err := s.hosts[on].admin.UnlinkIdentity(ctx, s.email, "company")
	if err != nil && strings.Contains(err.Error(), " has no identity ") {
		return refused
	}
	return resultOf(err)
}

func (s *scene) signIn(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/login", s.credentials())
}

func (s *scene) credentials() string {
	return fmt.Sprintf(`{"login":%q,"password":%q,"remember":true}`, s.email, adaPassword)
}

func (s *scene) comeBack(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/intents/current", "", s.laptop.deviceCookie(s.laptop.verifier))
}

func (s *scene) comeBackLate(ctx context.Context, on int) result {
	return s.request(ctx, on, "GET", "/auth/intents/current", "", s.laptop.deviceCookie(s.laptop.older))
}

func (s *scene) reset(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/reset-password", fmt.Sprintf(
		`{"token":%q,"email":%q,"password":%q,"password_confirmation":%[3]q}`, s.token, s.email, newPassword))
}

func (s *scene) disable(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.SetDisabled(ctx, s.email, true))
}

func (s *scene) enable(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.SetDisabled(ctx, s.email, false))
}

func (s *scene) revoke(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.RevokeSession(ctx, hex.EncodeToString(s.laptop.hash)[:16]))
}

func (s *scene) revokeAll(ctx context.Context, on int) result {
	return resultOf(s.hosts[on].admin.RevokeUser(ctx, s.email))
}

func (s *scene) revokeEverybody(ctx context.Context, on int) result {
	_, _, err := s.hosts[on].admin.RevokeAll(ctx)
	return resultOf(err)
}

func (s *scene) signOut(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/logout", "", s.laptop.sessionCookie(), s.laptop.deviceCookie(s.laptop.verifier))
}

// delete is what the application does with its own table.
func (s *scene) delete(ctx context.Context, on int) result {
	_, err := s.hosts[on].host.Store().Writer().ExecContext(ctx, s.bind(`DELETE FROM users WHERE email = ?`), s.email)
	return resultOf(err)
}

func (s *scene) effect(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/intents/org-setup", fmt.Sprintf(`{"legal_form":1,"org_name":"effect-%d",`+
		`"company_size":"solo","function":"developer","marketing_consent":false}`, on), s.laptop.sessionCookie())
}

// askForStep asks for a step in the settled session of the desk, where one is asked for already.
func (s *scene) askForStep(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/auth/account/steps/orgs", "", s.desk.sessionCookie())
}

func (s *scene) answerAsked(ctx context.Context, on int) result {
	w := s.send(ctx, on, "POST", "/auth/intents/redirect", fmt.Sprintf(`{"code":"effect-%d"}`, on), http.Header{"Cookie": {s.desk.sessionCookie()}})
	if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `"satisfied"`) {
		return refused // the column has a value by then
	}
	return statusResult(w)
}

func (s *scene) giveStepUp(ctx context.Context, on int) result {
	return s.request(ctx, on, "DELETE", "/auth/account/steps/orgs", "", s.desk.sessionCookie())
}

func (s *scene) signOutAtDesk(ctx context.Context, on int) result {
	return s.request(ctx, on, "POST", "/logout", "", s.desk.sessionCookie(), s.desk.deviceCookie(s.desk.verifier))
}

// accept is what the page posts that holds the tablet.
func (s *scene) accept(ctx context.Context, on int) result {
	w := s.send(ctx, on, "POST", "/auth/intents/redirect", fmt.Sprintf(`{"code":"effect-%d"}`, on), http.Header{"Cookie": {s.tablet.sessionCookie()}})
	if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `"satisfied"`) {
		return result("failed: " + w.Body.String())
	}
	return statusResult(w)
}

// errTold is returned when another host has marked the event.
var errTold = errors.New("the event is marked already")

// tell applies what a listener answers to the event of the scene: a name that replaces
// Ada's, and a mail.
func (s *scene) tell(ctx context.Context, on int) result {
	effects := []pluginsdk.Effect{
		pluginsdk.SetUser("told", fmt.Sprintf("told-%d", on)), pluginsdk.SetUser("name", "Augusta").Replacing("Ada"),
		pluginsdk.Mail("audit/told", map[string]string{"link": "/account"}),
	}
	marked := false
	err := s.hosts[on].host.ApplyTold(ctx, s.user, effects, func(ctx context.Context) (wanted bool, err error) {
		marked, err = s.hosts[on].host.Store().Outbox().Take(ctx, outbox.Item{ID: s.event})
		return marked, err
	})
	if err == nil && !marked {
		err = errTold
	}
	return resultOf(err)
}

// rename changes the name of the person in the table of the application.
func (s *scene) rename(ctx context.Context, on int) result {
	_, err := s.hosts[on].host.Store().Writer().ExecContext(ctx, s.bind(`UPDATE users SET name = ? WHERE email = ?`), "Eve", s.email)
	return resultOf(err)
}

package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// An end is what a race has led to.
type end struct {
	results           [2]result
	user, password    string
	effect            string
	sessions, devices []string
	tokens            []string
	passkeys          []string
	identities        []string
	// name and heard are columns that the effects of the listener set. waits reports whether
	// the event still waits for the listener, and mails counts the mails of the listener.
	name, heard string
	waits       bool
	mails       int
}

func (e end) String() string {
	return fmt.Sprintf("%s, %s: user %s, password %s, effect %q, sessions %v, devices %v, tokens %v, passkeys %v, identities %v, name %q, told %q, the event waits: %v, mails %d",
		e.results[0], e.results[1], e.user, e.password, e.effect, e.sessions, e.devices, e.tokens, e.passkeys, e.identities, e.name, e.heard, e.waits, e.mails)
}

func (s *scene) observe(results [2]result) end {
	s.Helper()
	e := end{results: results, user: "deleted"}
	ctx, db := s.Context(), s.ground
	user, err := db.Users().FindByID(ctx, s.user)
	switch {
	case err == nil:
		e.user, e.password = "enabled", "new"
		if user.Disabled {
			e.user = "disabled"
		}
		if user.Password == weakHash() {
			e.password = "old"
		}
		e.effect, _ = user.Columns["effect"].(string)
		e.heard, _ = user.Columns["told"].(string)
		e.name = user.Name
	case !errors.Is(err, auth.ErrNotFound):
		s.Fatal(err)
	}
	var queued []string
	s.must(db.Reader().Select(&queued, s.bind(`SELECT purpose FROM vestibule_outbox WHERE user_id = ?`), s.user))
	for _, purpose := range queued {
		switch purpose {
		case "told":
			e.mails++
		case "event:password_reset":
			e.waits = true
		}
	}
	var sessions []struct{ Hash, Device, Data []byte }
	s.must(db.Reader().Select(&sessions, s.bind(`SELECT hash, device, data FROM vestibule_sessions WHERE user_id = ?`), s.user))
	for _, row := range sessions {
		name := s.nameOf(row.Hash, row.Device)
		for _, effect := range []string{"effect-0", "effect-1"} {
			switch bytes.Count(row.Data, []byte(effect)) {
			case 0:
			case 2:
				name += " with " + effect
			default:
				name += " with " + effect + " of one dispenser alone"
			}
		}
		if bytes.Contains(row.Data, []byte("auth.asked")) {
			name += ", asked"
		}
		if s.settled != nil && name == "phone" && !bytes.Equal(row.Data, s.settled) {
			name += " confirmed"
		}
		e.sessions = append(e.sessions, name)
	}
	var devices []struct{ Selector, Intent []byte }
	s.must(db.Reader().Select(&devices, s.bind(`SELECT selector, intent FROM vestibule_remember_tokens WHERE user_id = ?`), s.user))
	for _, row := range devices {
		name := s.nameOf(nil, row.Selector)
		if row.Intent == nil {
			name += " settled"
		}
		e.devices = append(e.devices, name)
	}
	tokens, err := db.Tokens().List(ctx, s.user, 10)
	s.must(err)
	for _, token := range tokens {
		e.tokens = append(e.tokens, token.Name)
	}
	passkeys, err := db.Passkeys().List(ctx, s.user, 10)
	s.must(err)
	for _, passkey := range passkeys {
		e.passkeys = append(e.passkeys, passkey.Name)
	}
	identities, err := db.Identities().List(ctx, s.user, 10)
	s.must(err)
	for _, identity := range identities {
		e.identities = append(e.identities, identity.Name)
	}
	slices.Sort(e.identities)
	slices.Sort(e.passkeys)
	slices.Sort(e.sessions)
	slices.Sort(e.devices)
	slices.Sort(e.tokens)
	return e
}

// nameOf names a session, or a device where hash is nil.
func (s *scene) nameOf(hash, device []byte) string {
	name := "new"
	for of, k := range map[string]known{"laptop": s.laptop, "phone": s.phone, "tablet": s.tablet, "desk": s.desk} {
		if hash == nil && bytes.Equal(device, k.selector) || hash != nil && bytes.Equal(hash, k.hash) {
			return of
		}
		if hash != nil && bytes.Equal(device, k.selector) {
			name = "new of " + of
		}
	}
	return name
}

// judge compares an end with what is promised.
func (p racingPair) judge(where string, s *scene, e end) {
	p.t.Helper()
	for _, broken := range p.promises(s, e) {
		p.t.Errorf("%s: %s\n\t%s", where, broken, e)
	}
	if !p.serial[e.String()] {
		p.t.Errorf("%s: neither order ends like this\n\t%s", where, e)
	}
}

func (p racingPair) promises(s *scene, e end) (broken []string) {
	must := func(ok bool, promise string) {
		if !ok {
			broken = append(broken, promise)
		}
	}
	won := func(name string) bool {
		return p.x.name == name && e.results[0] == done || p.y.name == name && e.results[1] == done
	}
	has := func(list []string, prefix string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, prefix) })
	}
	for _, r := range e.results {
		must(!strings.HasPrefix(string(r), "failed"), "an operation failed")
	}
	must(e.user != "disabled" || len(e.sessions)+len(e.devices) == 0, "a disabled user has no session and no device")
	must(e.user != "disabled" || len(e.tokens) == 0, "a disabled user has no machine token")
	if won("revoke token") {
		must(!has(e.tokens, "old"), "a machine token that was revoked is over")
	}
	if won("delete passkey") {
		must(!slices.Contains(e.passkeys, "old"), "a passkey that was deleted is over")
	}
	if p.x.name == "sign in by passkey" && p.y.name == "sign in by passkey" {
		must(e.results[0] != done || e.results[1] != done, "a challenge is answered once")
	}
	byIdentity := won("sign in by identity")
	if p.x.name == "sign in by identity" && p.y.name == "sign in by identity" {
		must(e.results[0] != done || e.results[1] != done, "a state is used once")
	}
	if won("end identity") {
		must(!slices.Contains(e.identities, "company"), "an identity that was unlinked is over")
	}
	if p.x.name == "link identity" && p.y.name == "link identity" {
		must(slices.Contains(e.identities, "third"), "of two links to one identity one is there")
	}
	if won("reset") {
		must(e.user == "deleted" || len(e.tokens) == 0, "a reset ends all machine tokens, and no session of before makes another")
		// The new password is no reason to refuse a passkey afterwards.
		byPasskey := won("sign in by passkey") || byIdentity
		must(e.user == "deleted" || !slices.ContainsFunc(append(e.sessions, e.devices...), func(s string) bool { return !byPasskey || s != "new" }), "a reset ends all sessions and devices")
	}
	if won("change password") {
		must(e.user == "deleted" || len(e.tokens)+len(e.devices) == 0, "a changed password ends all machine tokens and devices")
		must(e.user == "deleted" || !slices.ContainsFunc(e.sessions, func(s string) bool { return s != "new" }), "a changed password ends all sessions but its own, under a new id")
		must(e.user == "deleted" || e.password == "new", "the password is changed")
	}
	if won("change password") && won("reset") {
		broken = append(broken, "of a reset and a changed password one counts")
	}
	if won("confirm") {
		must(!has(e.sessions, "phone") || has(e.sessions, "phone confirmed"), "a session that is confirmed is recent")
	}
	if won("sign out of the phone") {
		must(!has(e.sessions, "phone") && !has(e.devices, "phone"), "the phone's session is over, and confirming does not revive it")
	}
	if won("end session") {
		must(!has(e.sessions, "laptop") && !has(e.devices, "laptop"), "the laptop's session is over and stays so")
	}
	if won("revoke") || won("sign out") {
		must(!has(e.sessions, "laptop") && !has(e.sessions, "new of laptop"), "the laptop's session is over and stays so")
		must(!has(e.devices, "laptop"), "the laptop's device is over and stays so")
	}
	if won("sign out at the desk") {
		must(!has(e.sessions, "desk") && !has(e.devices, "desk"), "the desk's session and device are over")
	}
	if won("revoke all") || won("revoke everybody") {
		must(!slices.ContainsFunc(append(e.sessions, e.devices...), func(s string) bool { return s != "new" }), "all that was there is over")
		must(byIdentity || len(e.sessions) == len(e.devices), "a sign-in is ended as a whole or not at all")
	}
	if p.x.name == "sign out" || p.y.name == "sign out" {
		others := []string{"reset", "disable", "enable", "revoke all", "revoke everybody", "delete"}
		if !slices.Contains(others, p.x.name) && !slices.Contains(others, p.y.name) {
			must(has(e.sessions, "phone") && has(e.devices, "phone"), "signing out leaves other devices alone")
			must(has(e.sessions, "tablet") && has(e.devices, "tablet"), "signing out leaves a device alone that is held")
		}
	}
	if e.user != "deleted" {
		for _, name := range append(e.sessions, "") {
			if _, effect, ok := strings.Cut(name, " with "); ok {
				must(effect == e.effect, "effects are applied together")
			}
		}
		applied := p.x.effect && e.results[0] == done || p.y.effect && e.results[1] == done
		must(applied == (e.effect != ""), "effects are applied once or not at all")
	}
	if (p.x.tells || p.y.tells) && e.user != "deleted" {
		must((e.heard != "") != e.waits, "the effects of a listener are applied with the mark, or neither is there")
		must((e.heard != "") == (e.mails == 1) && e.mails < 2, "the mail of a listener is queued with the mark, once")
		must(won("tell") == (e.heard != ""), "a listener's answer counts, or is asked for again")
		must(e.name == "Eve" || !won("rename"), "the listener undoes nothing that it has not seen")
		must(e.name == "Augusta" || e.heard == "" || won("rename"), "the effects of a listener are applied together")
	}
	if p.x.tells && p.y.tells {
		must(e.results[0] != done || e.results[1] != done, "of two hosts that tell of one event one counts")
	}
	if p.x.name == "effect" && p.y.name == "effect" {
		must(e.results[0] != done || e.results[1] != done, "of two answers to one intent one counts")
	}
	if e.user != "enabled" {
		must(!s.opens(), "nothing that a browser or a program has opens anything")
	}
	if !slices.Contains(e.tokens, "old") {
		must(s.opensWith(s.Context(), 0, s.machine) == refused, "a machine token that is over opens nothing")
	}
	return broken
}

// opens reports whether any session cookie that was ever handed out is of use after the
// next touch.
func (s *scene) opens() bool {
	s.clock.Advance(5*time.Minute + time.Second)
	for _, cookie := range append(s.cookies, s.laptop.sessionCookie(), s.phone.sessionCookie(), s.tablet.sessionCookie(), s.desk.sessionCookie()) {
		if s.request(s.Context(), 0, "GET", "/auth/intents/current", "", cookie) == done {
			return true
		}
	}
	for _, token := range append(s.made, s.machine) {
		if s.opensWith(s.Context(), 0, token) == done {
			return true
		}
	}
	return false
}

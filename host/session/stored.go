package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The names under which sign-in keeps its values in the stored session. Plugins'
// values stand under pluginPrefix; all others are the application's.
const (
	intendedKey  = "auth.intended"
	intentKey    = "auth.intent"  // an auth.OpenIntent in JSON, while the loop has not ended
	targetKey    = "auth.target"  // the target of the redirect that ended the loop, which is read at every request
	askedKey     = "auth.asked"   // an auth.OpenIntent in JSON, the step that a settled person has asked for
	linkKey      = "auth.link"    // an identity.Link in JSON
	unaskedKey   = "auth.unasked" // true for a session whose state is unknown, or that no dispenser was asked about
	provedKey    = "auth.proved"  // when the password was given, in seconds since 1970
	proofKey     = "auth.proof"
	pluginPrefix = "plugin."
)

// The names of a release before 2.0, which takes a session without them for settled.
// They are written as long as a session is not settled. The kind is org_setup, or another
// word for what that release does not know and takes for a step that is open.
const (
	oldIntentID     = "auth.intent.id"
	oldIntentKind   = "auth.intent.kind"
	oldIntentDetail = "auth.intent.detail"
	oldIntentRound  = "auth.intent.round"
)

// sessionFormat is the newest format of the stored values that this release reads, and
// the one that it writes. Raise it when an older release must no longer believe the
// state that is written beside the values.
const sessionFormat = 1

// recordOf returns the row of a session, with its state in a column of its own.
func recordOf(s auth.Session) (auth.SessionRow, error) {
	data, err := encode(valuesOf(s))
	return auth.SessionRow{
		Hash: s.Key, Version: s.Version, UserID: s.UserID, Device: s.Device,
		State: string(s.State()), Format: sessionFormat, Data: data,
	}, err
}

// recordSettled reports whether a row says that its session is settled, in a format that
// this release knows. Only then may the values say so.
func recordSettled(rec auth.SessionRow) bool {
	return rec.State == string(auth.StateSettled) && rec.Format >= 1 && rec.Format <= sessionFormat
}

// sessionOf returns the session that a row holds. The session is settled only
// if both its row and its values say so. A state that is missing, because another release
// has written the row, or that this release does not know, makes it one that the
// dispenser is asked about again.
func sessionOf(rec auth.SessionRow) (auth.Session, error) {
	out := auth.Session{
		Key: rec.Hash, Version: rec.Version, UserID: rec.UserID, Device: rec.Device, Values: map[string]pluginsdk.Value{},
	}
	values, err := decode(rec.Data)
	if err != nil {
		return auth.Session{}, fmt.Errorf("load session: %w", err)
	}
	for name, v := range values {
		if plugin, ok := strings.CutPrefix(name, pluginPrefix); ok {
			out.Values[plugin] = v
			continue
		}
		switch name {
		case intendedKey, intentKey, targetKey, askedKey, linkKey, unaskedKey, provedKey, proofKey:
		case oldIntentID, oldIntentKind, oldIntentDetail, oldIntentRound:
		default:
			if out.Others == nil {
				out.Others = map[string]any{}
			}
			out.Others[name] = v
		}
	}
	out.Intended, _ = values[intendedKey].(string)
	if at, ok := values[provedKey].(int64); ok {
		out.Proved = time.Unix(at, 0)
	}
	proof, _ := values[proofKey].(string)
	out.Proof = auth.Proof(proof)
	if out.SignedIn() {
		out.Intent, out.Unasked = storedStep(values, rec)
		out.Asked = storedAsked(values)
		out.Link = storedLink(values)
	}
	return out, nil
}

// storedAsked returns the step that a settled person has asked for; nil for none, and for one
// that this release cannot read. The step says nothing about how far the session has come: a
// release that does not know it keeps it as a value of the application's.
func storedAsked(values map[string]any) *auth.OpenIntent {
	text, ok := values[askedKey].(string)
	step := new(auth.OpenIntent)
	if !ok || step.UnmarshalJSON([]byte(text)) != nil || step.Ends() {
		return nil
	}
	return step
}

// storedLink returns the identity that is linked once the person is settled; nil for none, and for one that this release
// cannot read.
func storedLink(values map[string]any) *identity.Link {
	text, ok := values[linkKey].(string)
	link := new(identity.Link)
	if !ok || json.Unmarshal([]byte(text), link) != nil {
		return nil
	}
	return link
}

// storedStep returns the intent that a stored session is at, and whether the dispenser is
// to be asked about it because nobody knows how far its user has come. A session that is
// settled has an intent or not.
func storedStep(values map[string]any, rec auth.SessionRow) (intent *auth.OpenIntent, unasked bool) {
	encoded, open := values[intentKey]
	switch {
	case rec.Format > sessionFormat:
		return nil, true
	case open:
		text, _ := encoded.(string)
		intent = new(auth.OpenIntent)
		if err := intent.UnmarshalJSON([]byte(text)); err != nil || intent.Ends() {
			return nil, true
		}
		return intent, false
	case !settledBoth(values, rec):
		return nil, true
	}
	if target, ok := values[targetKey].(string); ok {
		intent = &auth.OpenIntent{Intent: pluginsdk.Redirect(target)}
	}
	return intent, false
}

// settledBoth reports whether both the row and the values of a session say that it is
// settled. The values are those of every release that shares the tables: another one
// changes them and leaves the columns alone.
func settledBoth(values map[string]any, rec auth.SessionRow) bool {
	for _, open := range []string{intentKey, unaskedKey} {
		if _, ok := values[open]; ok {
			return false
		}
	}
	if _, ok := values[oldIntentID]; ok && values[oldIntentKind] != pluginsdk.Redirect("").Kind() {
		return false
	}
	return recordSettled(rec)
}

// valuesOf returns the values of s by the names that they are stored under.
func valuesOf(s auth.Session) map[string]any {
	out := make(map[string]any, len(s.Others)+len(s.Values)+8)
	maps.Copy(out, s.Others)
	for name, v := range s.Values {
		out[pluginPrefix+name] = v
	}
	if s.Intended != "" {
		out[intendedKey] = s.Intended
	}
	if !s.Proved.IsZero() {
		out[provedKey], out[proofKey] = s.Proved.Unix(), string(s.Proof)
	}
	if s.Link != nil {
		text, _ := json.Marshal(s.Link) // texts and numbers cannot fail
		out[linkKey] = string(text)
	}
	if s.Asked != nil && s.Settled() {
		text, _ := json.Marshal(s.Asked)
		out[askedKey] = string(text)
	}
	switch {
	case s.Unasked:
		out[unaskedKey] = true
		setOldIntent(out, "unasked", "", auth.OpenIntent{})
	case s.Intent == nil:
	case s.Intent.Ends():
		out[targetKey] = s.Intent.Target()
	default:
		text, _ := json.Marshal(s.Intent) // an intent of the catalogue cannot fail
		out[intentKey] = string(text)
		kind, detail := s.Intent.Kind(), s.Intent.PersonName()
		if s.Intent.Held() {
			kind, detail = string(auth.StateHeld), ""
		}
		setOldIntent(out, kind, detail, *s.Intent)
	}
	return out
}

// setOldIntent sets the values by which a release before 2.0 finds a session open.
func setOldIntent(values map[string]any, kind, detail string, o auth.OpenIntent) {
	values[oldIntentID], values[oldIntentKind] = o.ID, kind
	values[oldIntentDetail], values[oldIntentRound] = detail, int64(o.Round)
}

package pluginsdk

import "time"

// A User is the person who signs in, as far as the host's configuration lets
// the plugin see.
type User struct {
	// ID is the primary key of the user's row as text, whatever its type.
	ID string
	// Name and Email are the columns of these names; empty where null.
	Name, Email string
	// Columns are those that user_read grants.
	Columns Values
	// Locale is the language in which the person reads the messages of a [Validator]: "en" or
	// "de" or another BCP 47 tag. It is empty in other calls, whose request has it.
	Locale string
}

// A Request is what the plugin learns about the request that it decides on.
// It holds no password, cookie, authorization header, token or hash.
type Request struct {
	// ID joins the host's log lines, the plugin's and the answer's X-Request-Id.
	ID string
	// IntentID is the same for every attempt at one step.
	IntentID string
	// Traceparent and Tracestate are the headers of W3C Trace Context for what the
	// plugin asks elsewhere on behalf of the request; Tracestate is mostly empty, and
	// both are where the host tells of no trace.
	Traceparent, Tracestate string
	// Method, Path and Query are of the HTTP request; Query is raw, without "?".
	Method, Path, Query string
	// Headers holds the granted request headers by lower-case name.
	Headers map[string]string
	// RemoteAddr is the client's IP address, after trusted proxies.
	RemoteAddr string
	// Locale is the person's language, "en" or "de" or another BCP 47 tag.
	Locale string
	// Intended is the page that the person had asked for; empty when none.
	Intended string
	// Routes maps the names of the host's named routes to their paths.
	Routes map[string]string
	// Session holds the plugin's own session values.
	Session Values
	// SessionID names the session for as long as it lasts; nothing can be opened with
	// it. It is empty at sign-in, before there is a session.
	SessionID string
	// SignedInAt is when the person proved who they are, in whole seconds, and SignedInBy is
	// how: "password", "passkey", or "device" for a session whose device has been kept signed
	// in since then.
	SignedInAt time.Time
	SignedInBy string
	// Held is the target of the redirect that holds the person ([Intent.Hold]); empty
	// when none does.
	Held string
	// RecoveryOnly reports that only a recovery form may be judged ([Intent.OfferRecovery]):
	// the person has no guesses left for others, and the host applies no answer without
	// [Intent.AsRecovery].
	RecoveryOnly bool
	// Asked reports that the person is settled and has asked for the step themselves, with
	// fresh proof of who they are ([Plugin.OffersStep]). The first call about it has an empty
	// Held. The step ends with [Done], and the person stays settled whatever the answer is.
	Asked bool
	// Form is the validated organisation form, by field. For a dispenser it is what the
	// page of a held step posted, up to 32 fields that nobody has validated, and
	// otherwise empty.
	Form Values
}

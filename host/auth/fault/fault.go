package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Codes of faults that are not tied to a field. The front end has a text for
// each; they are part of the public contract.
const (
	Malformed            = "malformed_request"
	Unauthenticated      = "unauthenticated"
	Unsettled            = "unsettled"
	ConfirmationRequired = "confirmation_required"
	CrossOrigin          = "cross_origin"
	NotFound             = "not_found"
	UnknownIntent        = "unknown_intent"
	MethodNotAllowed     = "method_not_allowed"
	IntentNotCurrent     = "intent_not_current"
	TooLarge             = "request_too_large"
	UnsupportedMedia     = "unsupported_media_type"
	Misdirected          = "misdirected_request"
	UntrustedProxy       = "untrusted_proxy"
	HeaderAlias          = "header_alias"
	Internal             = "internal_error"
	RouteNotFound        = "route_not_found"
	HandlerMissing       = "org_setup_handler_missing"
	DispenserContract    = "dispenser_contract"
	UpstreamUnavailable  = "upstream_unavailable"
	DispenserUnavailable = "dispenser_unavailable"
	HandlerUnavailable   = "handler_unavailable"
	Unavailable          = "unavailable"
	DatabaseUnavailable  = "database_unavailable"
	Busy                 = "busy"
	PasswordRests        = "password_rests"
	PasswordSignInOff    = "password_sign_in_off"
	LastWayToSignIn      = "last_way_to_sign_in"
	PasskeyKnown         = "passkey_known"
	IdentityKnown        = "identity_known"
	IdentityState        = "identity_state"
	IdentityRefused      = "identity_refused"
	IdentityUnknown      = "identity_unknown"
	IdentityInactive     = "identity_inactive"
	IdentityTaken        = "identity_taken"
	IdentityProof        = "identity_proof"
	IdentityContract     = "identity_contract"
	IdentityUnavailable  = "identity_unavailable"
)

// A Fault is an answer other than success. Its code is public; the cause is for
// the log alone.
type Fault struct { //nolint:errname // an answer first, and an error only on its way there
	// Code is the fault's code; empty when fields of a form are at fault.
	Code string
	// Fields are the fields at fault, in the order of the form; with a code they say
	// what in the request is.
	Fields []Field
	// Text is a sentence of a plugin for the person, which a page shows; empty for none.
	Text string
	// Again is the path where the person begins anew, because the request cannot be repeated; empty for none.
	Again string
	// Next is the step that an unsettled person is at, in JSON; nil for none.
	Next any
	// RetryAfter is when to come back, for throttled and unavailable.
	RetryAfter time.Duration
	// ByHost tells of a [Busy] that the host is at its limit (503), and not the client
	// at its own (429).
	ByHost bool
	// Cause is the internal reason, never shown.
	Cause error
}

// A Field is the code of what is wrong with one field of a form.
type Field struct{ Field, Code string }

// Error describes the fault for the log.
func (f *Fault) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s: %v", f.Message(), f.Cause)
	}
	return f.Message()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Message returns the first code.
func (f *Fault) Message() string {
	if f.Code == "" && len(f.Fields) > 0 {
		return f.Fields[0].Code
	}
	return f.Code
}

// Status returns the HTTP status, here and nowhere else.
func (f *Fault) Status() int {
	switch f.Code {
	case Busy:
		if f.ByHost {
			return http.StatusServiceUnavailable
		}
		return http.StatusTooManyRequests
	case PasswordRests:
		return http.StatusTooManyRequests
	case "":
		if f.RetryAfter > 0 {
			return http.StatusTooManyRequests
		}
		return http.StatusUnprocessableEntity
	case Malformed, UntrustedProxy, HeaderAlias, IdentityState:
		return http.StatusBadRequest
	case Unauthenticated:
		return http.StatusUnauthorized
	case CrossOrigin, Unsettled, ConfirmationRequired, IdentityRefused, IdentityUnknown, IdentityInactive, IdentityTaken, IdentityProof:
		return http.StatusForbidden
	case NotFound, UnknownIntent, PasswordSignInOff:
		return http.StatusNotFound
	case MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case IntentNotCurrent, LastWayToSignIn, PasskeyKnown, IdentityKnown:
		return http.StatusConflict
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case Misdirected:
		return http.StatusMisdirectedRequest
	case HandlerMissing:
		return http.StatusNotImplemented
	case DispenserContract, UpstreamUnavailable, IdentityContract:
		return http.StatusBadGateway
	case DispenserUnavailable, HandlerUnavailable, Unavailable, DatabaseUnavailable, IdentityUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Write sends the fault as JSON in the one shape that all faults have.
func (f *Fault) Write(w http.ResponseWriter, requestID string) {
	body := struct {
		Message   string              `json:"message"`
		Errors    map[string][]string `json:"errors,omitempty"`
		Next      any                 `json:"next,omitempty"`
		RequestID string              `json:"request_id"`
	}{Message: f.Message(), Next: f.Next, RequestID: requestID}
	for _, x := range f.Fields {
		if body.Errors == nil {
			body.Errors = map[string][]string{}
		}
		body.Errors[x.Field] = append(body.Errors[x.Field], x.Code)
	}
	f.SetRetryAfter(w.Header())
	WriteJSON(w, f.Status(), body)
}

// SetRetryAfter sets Retry-After where the fault says when to come back.
func (f *Fault) SetRetryAfter(h http.Header) {
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter)))
	}
}

// Invalid is the fault of one field.
func Invalid(field, code string) *Fault { return &Fault{Fields: []Field{{field, code}}} }

// As returns err as a fault: itself, or an internal error that hides it.
func As(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Code: Internal, Cause: err}
}

// Throttled is the fault of one attempt too many; wait is what remains of the
// window.
func Throttled(field string, wait time.Duration) *Fault {
	s := max(1, seconds(wait))
	code := fmt.Sprintf("auth_throttle|%d|%d", s, (s+59)/60)
	return &Fault{Fields: []Field{{field, code}}, RetryAfter: time.Duration(s) * time.Second}
}

// seconds rounds up, since a client that comes back a moment early is refused.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// WriteJSON sends an answer that no cache may keep.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"message":"`+Internal+`"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

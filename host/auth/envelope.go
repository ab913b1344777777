package auth

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Version is the version of every intent envelope's payload.
const Version = "1"

// An OpenIntent is the intent last dispensed in a session, without effects. It has
// one encoding in JSON, which the stored session and the device keep; its
// [OpenIntent.Envelope] is the part that the front end receives.
type OpenIntent struct {
	pluginsdk.Intent
	// ID is shared by all attempts at the intent.
	ID string
	// Dispenser is the name of the plugin that dispensed the intent. It is empty for a
	// dispenser of the embedding program, for an intent that ends the loop, and where a
	// release with one dispenser has stored the intent.
	Dispenser string
	// Round counts how often in a row the kind was dispensed before.
	Round int
	// Asked is when a settled person asked for the step, and Session is the ID of the session
	// in which they did. Both are zero for an intent of the loop.
	Asked   time.Time
	Session string
}

// An Envelope is an intent as the front end receives it, in JSON.
type Envelope struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
	Payload any    `json:"payload"`
}

// Target returns where a redirect leads; empty for an intent of another kind.
func (e Envelope) Target() string {
	p, _ := e.Payload.(redirectPayload)
	return p.Target
}

// Envelope returns what the front end receives. Blanks of a target are percent-encoded
// in it, since front ends refuse an address with any.
func (o OpenIntent) Envelope() Envelope {
	e := o.envelope()
	if p, ok := e.Payload.(redirectPayload); ok {
		e.Payload = redirectPayload{withoutBlanks(p.Target)}
	}
	return e
}

// withoutBlanks is the same address, percent-encoded where it has blanks.
func withoutBlanks(target string) string { return strings.ReplaceAll(target, " ", "%20") }

// envelope returns what the session keeps.
func (o OpenIntent) envelope() Envelope {
	e := Envelope{Kind: o.Kind(), Version: Version}
	if k, ok := kindNamed(o.Kind()); ok && k.payload != nil {
		e.Payload = k.payload(o.Intent)
	}
	return e
}

// RedirectTo is the envelope of a redirect that ends the loop.
func RedirectTo(target string) Envelope {
	return OpenIntent{Intent: pluginsdk.Redirect(target)}.Envelope()
}

// Ends reports whether the intent ends the loop.
func (o OpenIntent) Ends() bool { return o.IsRedirect() && !o.Held() }

// sameStep reports whether two redirects that hold are of one dispenser and have one
// target. An intent of an older release may be of any dispenser.
func (o OpenIntent) sameStep(other OpenIntent) bool {
	a, b := o.Dispenser, other.Dispenser
	return o.Held() && other.Held() && o.Target() == other.Target() && (a == b || a == "" || b == "")
}

// heldVersion is the version of the envelope with which a held redirect is stored.
// Browsers get the same envelope as for others; a host that does not know how to hold
// must not read it as a redirect that has ended the loop.
const heldVersion = Version + "-held"

// heldPayload is the payload of a held redirect as it is stored. A release before 2.0 looks
// at the kind alone, and takes a redirect for settled; it cannot read a payload with a
// field that is no text.
type heldPayload struct {
	Target string `json:"target"`
	Held   bool   `json:"held"`
}

// storedIntent is the encoding of an [OpenIntent]. E is its envelope, with the
// payload as a value when it is written and undecoded when it is read.
type storedIntent[E any] struct {
	ID        string   `json:"id"`
	Dispenser string   `json:"dispenser,omitempty"`
	Envelope  E        `json:"envelope"`
	Prefixes  []string `json:"prefixes,omitempty"`
	Round     int      `json:"round,omitempty"`
	Recovery  bool     `json:"recovery,omitempty"`
	Asked     int64    `json:"asked,omitempty"` // in seconds since 1970
	Session   string   `json:"session,omitempty"`
}

// MarshalJSON encodes the intent for the session and the device.
func (o OpenIntent) MarshalJSON() ([]byte, error) {
	e := o.envelope()
	if o.Held() {
		e.Version, e.Payload = heldVersion, heldPayload{o.Target(), true}
	}
	out := storedIntent[Envelope]{ID: o.ID, Dispenser: o.Dispenser, Envelope: e, Prefixes: o.Prefixes(), Round: o.Round, Recovery: o.OffersRecovery(), Session: o.Session}
	if !o.Asked.IsZero() {
		out.Asked = o.Asked.Unix()
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON wrote. A kind or a version that this host
// does not know is an error.
func (o *OpenIntent) UnmarshalJSON(data []byte) error {
	var in storedIntent[struct {
		Kind    string
		Version string
		Payload json.RawMessage
	}]
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	k, ok := kindNamed(in.Envelope.Kind)
	held := in.Envelope.Version == heldVersion && k.name == redirectKind().name
	if !ok || k.restore == nil || !held && in.Envelope.Version != Version {
		return fmt.Errorf("an intent of the kind %q, version %q, which this version does not know", in.Envelope.Kind, in.Envelope.Version)
	}
	intent, err := k.restore(in.Envelope.Payload)
	if err != nil {
		return fmt.Errorf("the payload of an intent of the kind %q: %w", in.Envelope.Kind, err)
	}
	if held {
		intent = intent.Hold(in.Prefixes...)
		if in.Recovery {
			intent = intent.OfferRecovery()
		}
	}
	*o = OpenIntent{Intent: intent, ID: in.ID, Dispenser: in.Dispenser, Round: in.Round, Session: in.Session}
	if in.Asked != 0 {
		o.Asked = time.Unix(in.Asked, 0)
	}
	return nil
}

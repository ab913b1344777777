package auth

import "github.com/vestibule-dev/vestibule/v2/pluginsdk"

// Version is the version of every intent envelope's payload.
const Version = "1"

// An Envelope is an intent as the front end receives it.
type Envelope struct {
	Kind    string            `json:"kind"`
	Version string            `json:"version"`
	Payload map[string]string `json:"payload"`
}

// NewEnvelope returns the envelope of a kind with its one detail: the target of a
// redirect, the person's name in an org_setup.
func NewEnvelope(kind, detail string) Envelope {
	field := "target"
	if kind == string(pluginsdk.KindOrgSetup) {
		field = "personName"
	}
	return Envelope{Kind: kind, Version: Version, Payload: map[string]string{field: detail}}
}

// Detail returns the payload's one field.
func (e Envelope) Detail() string {
	if e.Kind == string(pluginsdk.KindOrgSetup) {
		return e.Payload["personName"]
	}
	return e.Payload["target"]
}

// Target returns where a redirect leads; it is empty for other kinds.
func (e Envelope) Target() string { return e.Payload["target"] }

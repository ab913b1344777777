package auth

import "github.com/vestibule-dev/vestibule/pluginsdk"

// Version is the version of every intent envelope's payload.
const Version = "1"

// An Envelope is an intent as the front end receives it.
type Envelope struct {
	Kind    string            `json:"kind"`
	Version string            `json:"version"`
	Payload map[string]string `json:"payload"`
}

func redirectEnvelope(target string) Envelope {
	return Envelope{Kind: string(pluginsdk.KindRedirect), Version: Version, Payload: map[string]string{"target": target}}
}

func orgSetupEnvelope(personName string) Envelope {
	return Envelope{Kind: string(pluginsdk.KindOrgSetup), Version: Version, Payload: map[string]string{"personName": personName}}
}

// Target returns where a redirect leads; it is empty for other kinds.
func (e Envelope) Target() string { return e.Payload["target"] }

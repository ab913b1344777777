package auth_test

import (
	"encoding/json"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// What the session and the device keep, and what the front end receives, are one
// encoding of one value.
func TestOpenIntentCrossesTheStore(t *testing.T) {
	tests := []struct {
		name, stored, envelope string
		intent                 auth.OpenIntent
	}{
		{
			"redirect", `{"id":"a","envelope":{"kind":"redirect","version":"1","payload":{"target":"/x?a=1"}}}`,
			`{"kind":"redirect","version":"1","payload":{"target":"/x?a=1"}}`,
			auth.OpenIntent{Intent: pluginsdk.Redirect("/x?a=1"), ID: "a"},
		},
		{
			"redirect with blanks", `{"id":"d","envelope":{"kind":"redirect","version":"1","payload":{"target":"/x y?q=a b"}}}`,
			`{"kind":"redirect","version":"1","payload":{"target":"/x%20y?q=a%20b"}}`,
			auth.OpenIntent{Intent: pluginsdk.Redirect("/x y?q=a b"), ID: "d"},
		},
		{
			"org_setup", `{"id":"b","envelope":{"kind":"org_setup","version":"1","payload":{"personName":"Ada"}},"round":3}`,
			`{"kind":"org_setup","version":"1","payload":{"personName":"Ada"}}`,
			auth.OpenIntent{Intent: pluginsdk.OrgSetup("Ada"), ID: "b", Round: 3},
		},
		{
			"a person without a name", `{"id":"c","envelope":{"kind":"org_setup","version":"1","payload":{"personName":""}}}`,
			`{"kind":"org_setup","version":"1","payload":{"personName":""}}`,
			auth.OpenIntent{Intent: pluginsdk.OrgSetup(""), ID: "c"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored, err := json.Marshal(tt.intent)
			if err != nil || string(stored) != tt.stored {
				t.Errorf("stored as %s, %v", stored, err)
			}
			if envelope, err := json.Marshal(tt.intent.Envelope()); err != nil || string(envelope) != tt.envelope {
				t.Errorf("the front end receives %s, %v", envelope, err)
			}
			var back auth.OpenIntent
			if err := json.Unmarshal(stored, &back); err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(back); err != nil || string(again) != tt.stored {
				t.Errorf("came back as %s, %v", again, err)
			}
			if back.Kind() != tt.intent.Kind() || back.Target() != tt.intent.Target() || back.PersonName() != tt.intent.PersonName() {
				t.Errorf("came back as %+v", back)
			}
		})
	}
}

// An intent of another version must not be taken for one that ends the loop.
func TestUnknownIntentIsNotRead(t *testing.T) {
	for _, stored := range []string{
		``, `null x`, `{}`, `{"envelope":{"kind":"teleport","version":"1","payload":{}}}`,
		`{"envelope":{"kind":"redirect","version":"2","payload":{"target":"/"}}}`,
		`{"envelope":{"kind":"done","version":"1","payload":{}}}`,
		`{"envelope":{"kind":"redirect","version":"1","payload":[]}}`,
		`{"envelope":{"kind":"redirect","version":"1"}}`,
	} {
		var o auth.OpenIntent
		if err := json.Unmarshal([]byte(stored), &o); err == nil {
			t.Errorf("%s was read as %+v", stored, o)
		}
	}
}

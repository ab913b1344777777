package pluginsdk_test

import (
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The host counts refusals by their messages, so none is without one.
func TestRefusalsSaySomething(t *testing.T) {
	held := pluginsdk.Redirect("/code").Hold()
	for want, in := range map[string]pluginsdk.Intent{"invalid": held.Failed(), "too old": held.Failed("too old")} {
		if got := in.Errors(); !slices.Equal(got, []string{want}) {
			t.Errorf("the messages are %q, want %q", got, want)
		}
	}
}

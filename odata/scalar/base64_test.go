package scalar_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

func TestFromBase64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "AP8": "\x00\xff", "AP8=": "\x00\xff", "_w==": "\xff", "_wAB": "\xff\x00\x01",
		"AP9": "no", "AP8==": "no", "AP8 ": "no", "A\nP8": "no", "AP8\r\n": "no", "A+/=": "no", "_wAB====": "no", "A": "no", "=": "no", "_w=": "no",
	} {
		if got, ok := scalar.FromBase64([]byte(text)); ok != (want != "no") || ok && string(got) != want {
			t.Errorf("%q gives %q, %v", text, got, ok)
		}
	}
}

package plan_test

import (
	"encoding/base64"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// FuzzTokenSpelling holds that whatever is read as a token is written in the same way.
func FuzzTokenSpelling(f *testing.F) {
	hash := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, seed := range [][]byte{
		nil,
		{1},
		hash, append(hash, 5), append(hash, 5, 0, 1, 14, 3, 2, 'a', 'b'), append(hash, 0x85, 0), append(hash, 0, 3, 0xff, 0xff, 0xff, 0xff, 0x0f), append(hash, 0, 1, 0x80),
		append(hash, 0, 2, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0), append(hash, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0), append(hash, 0, 4, 1, 2, 3), append(hash, 0, 9),
	} {
		f.Add(base64.RawURLEncoding.EncodeToString(seed))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if again, ok := plan.SpellToken(s); ok && again != s {
			t.Errorf("%q is read, and written as %q", s, again)
		}
	})
}

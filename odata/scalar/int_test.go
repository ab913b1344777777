package scalar_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

func TestAppendInt(t *testing.T) {
	t.Parallel()
	check := func(n int64) {
		t.Helper()
		if got, want := string(scalar.AppendInt([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for n := range int64(120_000) {
		check(n)
	}
	for power := int64(1); power < 1e18; power *= 10 {
		for _, n := range []int64{power - 1, power, power + 1, 7 * power, power * 123 / 100} {
			check(n)
			check(-n)
		}
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}

// A text is escaped alike whatever its length, and wherever in it the byte is that needs it: most are read eight at a time.
func TestEscapesAtEachPlace(t *testing.T) {
	t.Parallel()
	for _, special := range []string{`"`, `\`, "\n", "\x01", "\x1f", "é", "\x7f", " ", "!", "[", "#"} {
		one := strings.Trim(string(scalar.AppendString(nil, special)), `"`)
		if special == `"` {
			one = `\"`
		}
		for length := range 30 {
			for at := range length + 1 {
				before, behind := strings.Repeat("a", at), strings.Repeat("~", length-at)
				want := `"` + before + one + behind + `"`
				if got := string(scalar.AppendString(nil, before+special+behind)); got != want {
					t.Fatalf("%q at %d of %d: %s, want %s", special, at, length, got, want)
				}
			}
		}
	}
}

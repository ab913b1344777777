package scalar_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// plainTexts are all texts of up to n of some bytes, and longer ones.
func plainTexts(n int) []string {
	out, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, c := range "-+.019e " {
				next = append(next, s+string(c))
			}
		}
		out, last = append(out, next...), next
	}
	for _, digits := range []int{17, 18, 19, 20, 29, 30, 31, 35, 36} {
		text := ""
		for range digits {
			text += "7"
		}
		out = append(out, text, "-"+text, "0."+text, text+".5", "00"+text[2:])
	}
	return append(out, "127", "128", "-128", "-129", "255", "256", "32767", "32768", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1_0", "٣")
}

// Texts that need no pattern and no arithmetic are read as if they did.
func TestPlainTexts(t *testing.T) {
	t.Parallel()
	kinds := []edm.Kind{edm.Decimal, edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64}
	patterns := map[edm.Kind]*regexp.Regexp{}
	for _, k := range kinds {
		patterns[k] = regexp.MustCompile(`^(?:` + scalar.TextPattern(k) + `)$`)
	}
	for _, text := range plainTexts(5) {
		d, _, err := apd.NewFromString(text)
		plain := ""
		if err == nil && d.Form == apd.Finite {
			plain = scalar.Plain(d)
		}
		if got, ok := scalar.PlainDecimal(text); got != plain || ok != (plain != "") {
			t.Errorf("PlainDecimal(%q) is %q, %v, and not %q", text, got, ok, plain)
		}
		for _, k := range kinds {
			want, wanted := scalar.Read{}, patterns[k].MatchString(text)
			if k == edm.Decimal {
				want.Text = plain
			} else {
				n, err := strconv.ParseInt(text, 10, 64)
				least, greatest := k.Bounds()
				want.Int, wanted = n, wanted && err == nil && least <= n && n <= greatest
			}
			if got, ok := scalar.FromText(k, []byte(text)); ok != wanted || ok && got != want {
				t.Errorf("FromText(%s, %q) is %+v, %v, and not %+v, %v", edm.Of(k), text, got, ok, want, wanted)
			}
		}
	}
}

package scalar_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

func TestAppendTime(t *testing.T) {
	cases := []struct {
		in   string
		kind edm.Kind
		want string
	}{
		{"2024-02-29", edm.Date, "2024-02-29"},
		{"2024-02-29 10:00:00", edm.Date, "2024-02-29"},
		{"29.2.2024", edm.Date, ""},
		{"2023-02-29", edm.Date, ""},
		{"0000-00-00", edm.Date, ""},
		{"2024-13-01", edm.Date, ""},
		{"12000-01-01", edm.Date, ""},
		{"0044-03-15 BC", edm.Date, ""},
		{"0000-00-00 00:00:00", edm.DateTimeOffset, ""},
		{"2024-02-30", edm.DateTimeOffset, ""},
		{"2024-02-29 24:00:00", edm.DateTimeOffset, ""},
		{"26:00:00", edm.TimeOfDay, ""},
		{"24:00", edm.TimeOfDay, ""},
		{"10:60:00", edm.TimeOfDay, ""},
		{"10:11:61", edm.TimeOfDay, ""},
		{"2024-02-29", edm.DateTimeOffset, "2024-02-29T00:00:00Z"},
		{"2024-02-29 10:11", edm.DateTimeOffset, "2024-02-29T10:11:00Z"},
		{"2024-02-29 10:11:12", edm.DateTimeOffset, "2024-02-29T10:11:12Z"},
		{"2024-02-29T10:11:12.500", edm.DateTimeOffset, "2024-02-29T10:11:12.5Z"},
		{"2024-02-29T10:11:12.000Z", edm.DateTimeOffset, "2024-02-29T10:11:12Z"},
		{"2024-02-29 10:11:12+00", edm.DateTimeOffset, "2024-02-29T10:11:12Z"},
		{"2024-02-29T10:11:12+02:00", edm.DateTimeOffset, "2024-02-29T08:11:12Z"},
		{"2024-02-29 10:11:12.25 +0200 CEST m=+0.1", edm.DateTimeOffset, "2024-02-29T08:11:12.25Z"},
		{"2024-02-29 10:11:12-0130", edm.DateTimeOffset, "2024-02-29T11:41:12Z"},
		{"2024-02-29 10:11:12 later", edm.DateTimeOffset, ""},
		{"yesterday", edm.DateTimeOffset, ""},
		{"", edm.DateTimeOffset, ""},
		{"10:11:12", edm.TimeOfDay, "10:11:12"},
		{"10:11", edm.TimeOfDay, "10:11:00"},
		{"10:11:12.340000", edm.TimeOfDay, "10:11:12.34"},
		{"2024-02-29T10:11:12Z", edm.TimeOfDay, "10:11:12"},
		{"noon", edm.TimeOfDay, ""},
		{"2024-02-29", edm.String, ""},
	}
	for _, c := range cases {
		got, ok := scalar.AppendTime([]byte("> "), []byte(c.in), c.kind)
		if want := "> " + c.want; ok != (c.want != "") || ok && string(got) != want {
			t.Errorf("%v %q: got %q, %v, want %q", c.kind, c.in, got, ok, want)
		}
	}
}

// An instant of the usual form is what the library reads, whatever stands in place of one of its digits.
func TestAppendUsualInstant(t *testing.T) {
	for _, base := range []string{"2024-01-28 23:59:59", "2023-02-29 00:00:00", "2024-12-31 10:20:30", "1999-11-09 09:09:09"} {
		for i := range base {
			for c := range 256 {
				if c == ' ' || i != 10 && (base[i] < '0' || base[i] > '9') { // the library reads hours of one digit, we other forms
					continue
				}
				text := []byte(base)
				text[i] = byte(c)
				read := []byte(string(text))
				read[10] = ' ' // any sign may stand there
				at, err := time.Parse(time.DateTime, string(read))
				want := at.Format("2006-01-02T15:04:05Z")
				if got, ok := scalar.AppendTime(nil, text, edm.DateTimeOffset); ok != (err == nil) || ok && string(got) != want {
					t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
				}
			}
		}
	}
}

func BenchmarkAppendTime(b *testing.B) {
	for name, text := range map[string]string{"usual": "2024-01-01 00:01:00", "baseline": "2024-01-29 00:01:00.5"} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 32)
			for b.Loop() {
				dst, _ = scalar.AppendTime(dst[:0], []byte(text), edm.DateTimeOffset)
			}
		})
	}
}

func FuzzAppendTime(f *testing.F) {
	f.Add("2024-02-29 10:11:12.25 +0200 CEST m=+0.1")
	f.Add("2024-02-29")
	f.Add("10:11:12.5")
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []edm.Kind{edm.Date, edm.DateTimeOffset, edm.TimeOfDay} {
			got, ok := scalar.AppendTime(nil, []byte(s), k)
			if !ok {
				continue
			}
			again, ok := scalar.AppendTime(nil, got, k)
			if !ok || string(again) != string(got) {
				t.Fatalf("%v %q: %q is read again as %q, %v", k, s, got, again, ok)
			}
		}
	})
}

func TestDurations(t *testing.T) {
	cases := map[string]int64{
		"PT0S": 0, "PT1.5S": 1_500_000, "-PT1M": -60_000_000, "P1D": 86_400_000_000, "P1DT2H3M4S": 93_784_000_000, "P1DT12H": 129_600_000_000,
		"PT0.000001S": 1, "P106751991DT4H54.775807S": 9223372036854775807, "-P106751991DT4H54.775808S": -9223372036854775808,
	}
	for text, want := range cases {
		if got, ok := scalar.Micros(text); got != want || !ok {
			t.Errorf("%s: got %v, %v, want %v", text, got, ok, want)
		}
		if got := scalar.FormatMicros(want); got != text {
			t.Errorf("%v: got %s, want %s", want, got, text)
		}
	}
	for _, text := range []string{"P106751992D", "P106751991DT4H54.775808S", "-P106751991DT4H54.775809S", "P99999999999999999999D", "P106751991DT24H", "P1M", "P1Y", "PT", "P", "1"} {
		if got, ok := scalar.Micros(text); ok {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if got := scalar.FormatDuration(true, 0, int64(time.Millisecond)); got != "-PT0.001S" {
		t.Errorf("got %s", got)
	}
}

func TestDecimalKeysOrderAsDecimalsDo(t *testing.T) {
	ordered := []string{
		"-12345678901234567890.5", "-10.01", "-10", "-9.99", "-1.51", "-1.5", "-1", "-0.1", "-0.010", "-0.0001", "0.00",
		"0.0000001", "0.01", "0.1", "0.11", "1", "1.5", "1.51", "9", "10", "10.01", "12345678901234567890.5", "100000000000000000000",
	}
	for i := 1; i < len(ordered); i++ {
		if a, b := scalar.DecimalKey(ordered[i-1]), scalar.DecimalKey(ordered[i]); a >= b {
			t.Errorf("%s has the key %s and %s the key %s", ordered[i-1], a, ordered[i], b)
		}
	}
	if a, b := scalar.DecimalKey("1.50"), scalar.DecimalKey("1.5"); a != b {
		t.Errorf("1.50 has the key %s and 1.5 the key %s", a, b)
	}
}

func TestPlainDecimal(t *testing.T) {
	for text, want := range map[string]string{"1.50": "1.5", "1e3": "1000", "-0.0": "0", "1e-7": "0.0000001", "x": "", "NaN": "", "1e2000": ""} {
		if got, ok := scalar.PlainDecimal(text); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v", text, got, ok)
		}
	}
}

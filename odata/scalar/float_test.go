package scalar_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

func TestFloatsAreWrittenAsStrconvDoes(t *testing.T) {
	same := func(f float64) {
		t.Helper()
		got, want := string(scalar.AppendFloat(nil, f)), strconv.FormatFloat(f, 'f', -1, 64)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4)) // must be the same everywhere
	for _, f := range []float64{0, math.Copysign(0, -1), 0.5, 0.0001, 0.00005, 0.00001, 1, 9.95, 1e9, 1e9 - 0.0001, 999999999.9999, 1e21, 5e-324, 0.1 + 0.2, math.MaxFloat64} {
		for _, f := range []float64{f, -f, math.Nextafter(f, 1e300), math.Nextafter(f, -1e300)} {
			same(f)
		}
	}
	for range 200_000 {
		f := float64(random.Int64N(1e13)) / math.Pow10(random.IntN(8))
		same(f)
		same(math.Nextafter(f, 0))
		same(math.Float64frombits(random.Uint64() & 0x47ff_ffff_ffff_ffff)) // finite, of any size that has no 1000 digits
	}
}

func TestDecimalsAreWrittenAsPaddedFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6)) // must be the same everywhere
	floats := []float64{0, math.Copysign(0, -1), 0.5, 0.05, 0.005, 9.95, 10, 999.999, 1e9, 999999999.99, 999999999.9999, 1e21, 5e-324, 0.1 + 0.2, math.NaN(), math.Inf(-1)}
	for range 4_000 {
		f := float64(random.Int64N(1e13)) / math.Pow10(random.IntN(8))
		floats = append(floats, f, math.Nextafter(f, 0))
	}
	for _, f := range floats {
		for _, f := range []float64{f, -f} {
			for scale := edm.VariableScale; scale < 7; scale++ {
				got, want := string(scalar.AppendDecimal([]byte("x"), f, scale)), string(scalar.PadDecimal(scalar.AppendFloat([]byte("x"), f), 1, scale))
				if got != want {
					t.Fatalf("%g with %d digits: got %s, want %s", f, scale, got, want)
				}
			}
		}
	}
}

func BenchmarkAppendFloat(b *testing.B) {
	for name, write := range map[string]func(dst []byte, f float64) []byte{
		"ours":     scalar.AppendFloat,
		"baseline": func(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'f', -1, 64) },
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 32)
			for i := 0; b.Loop(); i++ {
				dst = write(dst[:0], float64(i%100_000)/100)
			}
		})
	}
}

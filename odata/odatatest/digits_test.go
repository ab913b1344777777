package odatatest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// manyDigits is a table of decimals with up to 65 digits: at the ends of what is computed with, of all lengths, and with
// zeros in all places.
func manyDigits() odatatest.Table {
	nines, zeros := strings.Repeat("9", 65), strings.Repeat("0", 65)
	deep := []string{
		"0", "1", "-1", "3", "0.5", "-0.5", nines[:35], "-" + nines[:35], nines[:35] + "." + nines[:30], "-" + nines[:35] + "." + nines[:30], "0." + nines[:30],
		"0." + zeros[:29] + "1", "-0." + zeros[:29] + "1", "1" + zeros[:34], "0." + zeros[:14] + "1", nines[:17] + "." + nines[:13], nines[:18] + "." + nines[:15],
		"316227766016837933.199889354443271853", "12345678901234567890123456789.012345678901234567890123456789", "1000000000." + zeros[:17] + "1",
	}
	r := rand.New(rand.NewPCG(1, 0))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789"[r.IntN(10)])
		}
		return b.String()
	}
	for range 20 {
		deep = append(deep, []string{"", "-"}[r.IntN(2)]+digits(1+r.IntN(35))+"."+digits(1+r.IntN(30)))
	}
	wide := []string{"0", "7", "-" + nines[:36], nines, "1" + zeros[:35], nines[:35], "-1" + zeros[:64]}
	fine := []string{"0", nines[:27] + "." + nines[:38], "0." + zeros[:29] + "5", "0." + zeros[:29] + "49999999", "-0." + zeros[:29] + "5", "-0." + zeros[:29] + "3", "2." + zeros[:29] + "5"}
	table := odatatest.Table{Name: "numbers", Key: []string{"id"}, Columns: []string{"id big!", "x deep", "y deep", "w wide", "v fine", "p dec", "n big", "f dbl"}}
	for i, x := range deep {
		y := deep[(i*7+3)%len(deep)]
		table.Rows = append(table.Rows, []any{i + 1, x, y, wide[i%len(wide)], fine[i%len(fine)], []string{"-12345678.9999", "0.0001", "10"}[i%3], int64(9007199254740993) * int64(i-9), 1.7 * float64(i*i*i)})
	}
	return table
}

// TestFourCountDigitsAlike computes with decimals of many digits: 35 before the point and 30 behind it are exact, more
// before it are null, and more behind it are rounded.
func TestFourCountDigitsAlike(t *testing.T) {
	t.Parallel()
	all := enginesOf(t, []odatatest.Table{manyDigits()}, sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Numbers", Table: "numbers"}},
	})
	var targets []string
	for _, expr := range []string{
		"x mul y", "x mul x", "y mul x mul 0.0000000001", "(x sub y) mul y", "(x sub y) mul (y sub x)", "x add y", "x sub y", "x add x add x", "x div y", "x divby 3", "y mod x", "x mod 0.7",
		"(x sub 1) mod (y sub 1)", "-x", "-w", "-v", "w sub w", "w mul 0.0000000001", "w add 1", "w div w", "w mod 7", "v add v", "v mul 1", "v div 0.0000000000000000000000000001", "v mod 1", "v mul v",
		"floor(x)", "ceiling(x)", "round(x)", "round(w)", "ceiling(x) sub 1", "ceiling(v)", "round(v) mul x", "floor(x) mul floor(y)", "p mul p mul p mul p mul p mul p", "p mul x", "x mul p mul p",
		"n mul n mul p", "cast(n,Edm.Decimal) mul cast(n,Edm.Decimal)", "cast(n,Edm.Decimal) mul x", "cast(f,Edm.Decimal) mul y", "cast(f mul 1e30,Edm.Decimal)", "cast(f div 1e33,Edm.Decimal) add 1",
		"case(x gt y:x,true:w) add 1", "x mul 100000000000000000000000000000000000", "x add 100000000000000000000000000000000000", "x mul -0.000000000000000000000000000001",
		"cast(x mul y,Edm.String)", "cast(x mul y,Edm.Double)", "cast(x sub y,Edm.Int64)", "(x add y) div (x sub y)", "p add 12345678901234567890123456789012345.5", "-(v mul 1)", "p" + strings.Repeat(" add p", 49), "0.5" + strings.Repeat(" mul x", 49), "x" + strings.Repeat(" add p", 49), "1" + strings.Repeat(" div y", 49),
		"(n add 1) mul x", "(f mul -1e20) div (p sub p)", // a variable of MariaDB is an integer, and then a double
	} {
		targets = append(targets, "Numbers?$select=id,z&$compute="+expr+" as z", "Numbers?$select=id&$orderby="+expr+",id")
	}
	for _, expr := range []string{"x mul y gt 0", "x mul p lt 99999999999999999999999999999999999", "w gt 100000000000000000000000000000000000", "x mul y ge y", "v eq 0.000000000000000000000000000005", "v mul 1 eq 0", "v div 1 ge 0", "v add v lt 0"} {
		targets = append(targets, "Numbers?$select=id&$filter="+expr, "Numbers?$select=id&$filter=not ("+expr+")")
	}
	doubled := "x mul y as s0" // shared expressions become columns of a table
	for i := range 12 {
		doubled += fmt.Sprintf(",s%d add s%d as s%d", i, i, i+1)
	}
	targets = append(targets, "Numbers?$select=id,s12&$compute="+doubled+"&$orderby=s12,id")
	for _, target := range targets {
		want := all[0].ask(target)
		if want[0] != '2' {
			t.Errorf("GET %s is %s", target, want)
		}
		for _, e := range all[1:] {
			if got := e.ask(target); got != want {
				t.Errorf("GET %s\n  memory %.3000s\n%8s %.3000s", target, want, e.name, got)
			}
		}
	}
}

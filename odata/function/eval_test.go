package function_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// literal reads "Kind:value", or "Kind" alone for null of that kind.
func literal(t *testing.T, text string) *plan.Literal {
	t.Helper()
	name, value, given := strings.Cut(text, ":")
	l := &plan.Literal{T: edm.Of(edm.PrimitiveKind(name))}
	if name == "Enum" {
		l.T.Kind = edm.Enum
	}
	var err error
	switch k := l.T.Kind; {
	case !given:
		l.Value.Null = true
	case k.Integer() || k == edm.Boolean || k == edm.Enum:
		l.Value.Int, err = strconv.ParseInt(value, 10, 64)
	case k == edm.Single || k == edm.Double:
		l.Value.Float, err = strconv.ParseFloat(value, 64)
	default:
		l.Value.Bytes = []byte(value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func written(v plan.Value, k edm.Kind) string {
	switch {
	case v.Null:
		return "null"
	case k.Integer() || k == edm.Boolean || k == edm.Enum:
		return strconv.FormatInt(v.Int, 10)
	case k == edm.Single || k == edm.Double:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return string(v.Bytes)
}

// TestReference holds the reference implementations to the standard: calls as "name(Kind:value|Kind:value)", a cast
// with the kind of its result behind the name, and results; "!" is out of range.
func TestReference(t *testing.T) {
	cases := map[string]string{
		// OData-URL 5.1.1.1: null is equal to null alone, and neither less nor greater.
		"eq(Int64|Int64)": "1", "eq(Int64:1|Int64)": "0", "ne(Int64:1|Int64)": "1", "ge(Int64|Int64)": "0", "lt(Int64|Int64:1)": "0",
		"eq(Decimal:1.50|Int64:1)": "0", "eq(Decimal:2|Int64:2)": "1", "lt(Int64:9007199254740993|Decimal:9007199254740993.5)": "1",
		"eq(Int64:9007199254740993|Double:9007199254740992)": "1", "eq(Double:NaN|Double:NaN)": "0", "ne(Double:NaN|Double:1)": "1",
		"lt(String:B|String:a)": "1", "lt(String:Äpfel|String:zoo)": "0", "lt(String:｡|String:𝄞)": "1", "eq(String:a|String:a )": "0",
		"lt(DateTimeOffset:2024-01-01T00:00:00Z|DateTimeOffset:2024-01-01T00:00:00.5Z)": "1", "gt(Duration:P1D|Duration:PT23H)": "1",
		"lt(Duration:-P1D|Duration:PT0S)": "1", "lt(TimeOfDay:08:00:00|TimeOfDay:08:00:00.5)": "1", "gt(Boolean:1|Boolean:0)": "1",
		"in(Int64:2|Int64:1|Int64:2)": "1", "in(Int64:2|Int64)": "0", "in(Int64|Int64)": "1", "has(Enum:3|Enum:2)": "1", "has(Enum:1|Enum:2)": "0", "has(Enum|Enum:2)": "null",
		"and(Boolean:0|Boolean)": "0", "and(Boolean:1|Boolean)": "null", "or(Boolean:1|Boolean)": "1", "or(Boolean:0|Boolean)": "null", "not(Boolean)": "null", "not(Boolean:0)": "1",
		// OData-URL 5.1.1.2
		"add(Int64:9223372036854775807|Int64:1)": "!", "sub(Int64:-9223372036854775808|Int64:1)": "!", "mul(Int64:-9223372036854775808|Int64:-1)": "!",
		"mul(Int64:-1|Int64:-9223372036854775808)": "!", "div(Int64:-9223372036854775808|Int64:-1)": "!", "mod(Int64:-9223372036854775808|Int64:-1)": "0",
		"negate(Int64:-9223372036854775808)": "!", "add(Int64:-9223372036854775808|Int64:9223372036854775807)": "-1",
		"div(Int64:-7|Int64:2)": "-3", "mod(Int64:-7|Int64:2)": "-1", "div(Int64:1|Int64:0)": "null", "mod(Int64:1|Int64:0)": "null",
		"divby(Int64:-7|Int64:2)": "-3.5", "divby(Int64:2|Int64:3)": "0.6666666667", "div(Decimal:10|Decimal:4)": "2.5", "div(Decimal:1|Decimal:0)": "null",
		"mod(Decimal:-5.5|Decimal:2)": "-1.5", "add(Decimal:0.1|Decimal:0.2)": "0.3", "mul(Decimal:99999999.9999|Decimal:99999999.9999)": "9999999999980000.00000001",
		"mul(Decimal:1|Decimal:0.5)": "0.5", "negate(Decimal:0)": "0", "sub(Decimal:1|Decimal:1.0)": "0", "add(Double:0.1|Int64:1)": "1.1",
		"div(Double:1|Double:0)": "null", "div(Double:1|Double:Inf)": "null", "add(Double:NaN|Double:1)": "null", "div(Double:5e-324|Double:2)": "0", "div(Double:0|Double:0)": "null", "mod(Double:1|Double:0)": "null", "mod(Double:2|Double:0.1)": "0.0999999999999999", "mul(Double:1e300|Double:1e300)": "!",
		"add(Int64|Int64:1)": "null",
		"add(DateTimeOffset:1969-12-31T23:59:59.5Z|Duration:PT0.5S)": "1970-01-01T00:00:00Z", "sub(DateTimeOffset:0001-01-01T00:00:00Z|Duration:PT1S)": "!",
		"add(Duration:P1D|DateTimeOffset:9999-12-31T00:00:00Z)": "!", "add(Date:2024-02-28|Duration:P1D)": "2024-02-29", "add(Date:2024-02-28|Duration:PT23H)": "2024-02-28",
		"sub(Date:2024-03-01|Duration:PT1H)": "2024-02-29", "add(TimeOfDay:23:59:59|Duration:PT2S)": "00:00:01", "sub(TimeOfDay:00:00:00|Duration:PT0.000001S)": "23:59:59.999999",
		"sub(Date:9999-12-31|Date:0001-01-01)": "P3652058D", "sub(DateTimeOffset:2024-01-01T00:00:00Z|DateTimeOffset:2024-01-01T00:00:00.000001Z)": "-PT0.000001S",
		"sub(TimeOfDay:08:00:00|TimeOfDay:09:30:00)": "-PT1H30M", "mul(Duration:PT1S|Decimal:0.5)": "PT0.5S", "mul(Int64:-2|Duration:P1D)": "-P2D",
		"div(Duration:PT1S|Int64:3)": "PT0.333333S", "div(Duration:PT1S|Int64:0)": "null", "mul(Duration:P1D|Double:1e12)": "!", "negate(Duration:PT0S)": "PT0S",
		// OData-URL 5.1.1.5, 5.1.1.7
		"length(String:𝄞e\u0308)": "3", "indexof(String:𝄞clef|String:c)": "1", "indexof(String:a|String:b)": "-1", "indexof(String:a|String:)": "0",
		"substring(String:𝄞clef|Int64:1)": "clef", "substring(String:abc|Int64:-5|Int64:2)": "ab", "substring(String:a𝄞c|Int64:-2)": "𝄞c", "substring(String:abc|Int64:-2|Int64:1)": "b", "substring(String:abc|Int64:1|Int64:-1)": "",
		"substring(String:abc|Int64:9223372036854775807|Int64:9223372036854775807)": "", "tolower(String:ÄSS)": "äss", "toupper(String:ßä)": "ßÄ",
		"trim(String: \t\n\u00a0a )": "\u00a0a", "concat(String:a|String:b)": "ab", "concat(String:a|String)": "null", "contains(String:a|String:)": "1",
		"startswith(String:Äa|String:Ä)": "1", "endswith(String:a|String:ba)": "0", "matchespattern(String:anvil|String:^[a-z]+$)": "1",
		// OData-URL 5.1.1.8, 5.1.1.9
		"year(Date:0001-01-01)": "1", "second(TimeOfDay:01:02:03.9)": "3", "fractionalseconds(TimeOfDay:01:02:03.9)": "0.9", "hour(DateTimeOffset:2024-01-01T23:00:00Z)": "23",
		"date(DateTimeOffset:1969-12-31T23:59:59Z)": "1969-12-31", "time(DateTimeOffset:1969-12-31T23:59:59.5Z)": "23:59:59.5", "totalseconds(Duration:-P1DT0.5S)": "-86400.5",
		"round(Decimal:-2.5)": "-3", "round(Double:2.5)": "3", "round(Double:0.49999999999999994)": "0", "floor(Decimal:-0.000001)": "-1", "ceiling(Decimal:0.000001)": "1", "ceiling(Decimal:-0.5)": "0",
		"round(Int64:7)": "7",
		// OData-URL 5.1.1.10.1
		"cast>SByte(Int64:127)": "127", "cast>SByte(Int64:128)": "null", "cast>Int64(Decimal:-1.9)": "-1", "cast>Int64(Double:NaN)": "null", "cast>Int64(Double:1e19)": "null",
		"cast>String(Double:1e20)": "100000000000000000000", "cast>String(Boolean:1)": "true", "cast>String(Decimal:1.50)": "1.5", "cast>Decimal(Double:0.1)": "0.1",
		"cast>Decimal(Double:Inf)": "null", "cast>Single(Double:0.1)": "0.10000000149011612", "cast>DateTimeOffset(Date:2024-02-29)": "2024-02-29T00:00:00Z", "cast>String(Enum:2)": "2",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			head, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
			name, to, _ := strings.Cut(head, ">")
			call := &plan.Call{Name: name}
			var kinds []edm.Kind
			var args []plan.Value
			for _, a := range strings.Split(list, "|") {
				l := literal(t, a)
				call.Args, kinds, args = append(call.Args, l), append(kinds, l.T.Kind), append(args, l.Value)
			}
			f := function.Lookup(name)
			if to != "" {
				call.T = edm.Of(edm.PrimitiveKind(to))
			} else if _, result, ok := f.Match(kinds[:min(len(kinds), len(f.Signatures[0].Params))]); ok {
				call.T = edm.Of(result)
			} else {
				t.Fatalf("%s does not work on %v", name, kinds)
			}
			eval, err := f.Compile(call)
			if err != nil {
				t.Fatal(err)
			}
			v, err := eval(args)
			got := written(v, call.T.Kind)
			if errors.Is(err, function.ErrRange) {
				got = "!"
			} else if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestCompareOrdersNullFirstAndNaNLast(t *testing.T) {
	null, low, nan := plan.Value{Null: true}, plan.Value{Float: math.Inf(-1)}, plan.Value{Float: math.NaN()}
	list := []plan.Value{null, low, {Float: math.MaxFloat64}, {Float: math.Inf(1)}, nan}
	for i, x := range list {
		for j, y := range list {
			if got := function.Compare(edm.Double, edm.Double, x, y); got != sign(i-j) {
				t.Errorf("%d and %d compare as %d", i, j, got)
			}
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// TestEveryFunctionHasAReference holds that memory knows what the databases know.
func TestEveryFunctionHasAReference(t *testing.T) {
	for _, f := range function.All() {
		elsewhere := f.Group == function.Absent || f.Constant != nil || f.Name == "case" || f.Name == "isof"
		if !elsewhere && f.Eval == nil && f.Prepare == nil {
			t.Errorf("%s has no Eval", f.Name)
		}
	}
}

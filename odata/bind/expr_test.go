package bind_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// compute binds an expression over Books and gives it as it stands in the plan.
func compute(t *testing.T, expr string) (plan.Expr, error) {
	t.Helper()
	p, err := build(t, "Books?$select=X&$compute="+url.PathEscape(expr+" as X"), bind.Options{Caller: reader()})
	if err != nil {
		return nil, err
	}
	return p.Top.Columns[p.Top.Fields[0].Column].Expr, nil
}

func TestTypes(t *testing.T) {
	cases := map[string]edm.Kind{
		// promotion, OData-URL 5.1.1.18
		"Id add 1": edm.Int64, "Id add Price": edm.Decimal, "Id add Size/Width": edm.Double, "Price add 1.5": edm.Decimal,
		"Id div 2": edm.Int64, "Id divby 2": edm.Decimal, "Price divby Size/Width": edm.Double, "-Id": edm.Int64, "-Size/Width": edm.Double,
		"null add Id": edm.Int64, "Id mul null": edm.Int64,
		// points in time
		"Printed add duration'P1D'": edm.DateTimeOffset, "duration'P1D' add Printed": edm.DateTimeOffset, "Printed sub Printed": edm.Duration,
		"date(Printed) sub duration'P1D'": edm.Date, "time(Printed) sub time(Printed)": edm.Duration, "duration'PT1S' mul 2": edm.Duration,
		"2 mul duration'PT1S'": edm.Duration, "duration'PT1S' div 2": edm.Duration, "now()": edm.DateTimeOffset,
		// functions
		"length(Title)": edm.Int64, "substring(Title,1)": edm.String, "substring(Title,1,2)": edm.String, "contains(Title,null)": edm.Boolean,
		"round(Size/Width)": edm.Double, "round(Price)": edm.Decimal, "round(Id)": edm.Int64, "round(null)": edm.Decimal,
		"fractionalseconds(Printed)": edm.Decimal, "totalseconds('PT1M')": edm.Decimal, "year(date(Printed))": edm.Int64,
		// conditions and choices
		"Title eq 'x'": edm.Boolean, "Id in (1,2)": edm.Boolean, "Genre has 'Crime'": edm.Boolean, "isof(Id,Edm.Int64)": edm.Boolean,
		"case(Id gt 1:1,true:1.5)": edm.Decimal, "case(Id gt 1:null,true:'x')": edm.String, "null": edm.String,
		"cast(Id,Edm.String)": edm.String, "cast(Price,Edm.Byte)": edm.Byte, "cast(null,Edm.Date)": edm.Date, "cast(Genre,Edm.Int32)": edm.Int32,
		"cast(date(Printed),Edm.DateTimeOffset)": edm.DateTimeOffset, "Sequels/$count": edm.Int64,
	}
	for expr, want := range cases {
		t.Run(expr, func(t *testing.T) {
			x, err := compute(t, expr)
			if err != nil {
				t.Fatal(err)
			}
			if got := x.Type().Kind; got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestConstants holds what is decided when a request is bound.
func TestConstants(t *testing.T) {
	cases := map[string]plan.Value{
		"-(5)":                      {Int: -5},
		"now()":                     {Bytes: []byte("2026-01-02T03:04:05Z")},
		"mindatetime()":             {Bytes: []byte("0001-01-01T00:00:00Z")},
		"cast(1.0,Edm.Int32)":       {Int: 1},
		"cast('Crime',Lib.Genre)":   {Int: 1},
		"duration'PT36H'":           {Bytes: []byte("P1DT12H")},
		"2024-01-01T00:00:00+02:00": {Bytes: []byte("2023-12-31T22:00:00Z")},
		"Size/Width eq NaN":         {},
		"Size eq null":              {},
		"isof(Id,Edm.String)":       {},
		"1e2":                       {Float: 100},
		"12.50":                     {Bytes: []byte("12.5")},
		"null":                      {Null: true},
	}
	for expr, want := range cases {
		t.Run(expr, func(t *testing.T) {
			x, err := compute(t, expr)
			if err != nil {
				t.Fatal(err)
			}
			l, ok := x.(*plan.Literal)
			if !ok || l.Value.Null != want.Null || l.Value.Int != want.Int || l.Value.Float != want.Float || string(l.Value.Bytes) != string(want.Bytes) {
				t.Errorf("got %+v, want %+v", x, want)
			}
		})
	}
}

func TestExpressionFaults(t *testing.T) {
	cases := map[string]string{
		"$filter=Id":                             "Id is not a condition",
		"$filter=Id and true":                    "Id is not a condition",
		"$filter=not length(Title)":              "the result of length is not a condition",
		"$filter=-Title eq 'x'":                  "Title cannot be negated",
		"$filter=Title add 1 eq 2":               "add does not work on Edm.String and Edm.Int64",
		"$filter=Printed add Printed eq null":    "add does not work on Edm.DateTimeOffset and Edm.DateTimeOffset",
		"$filter=Id div 0 eq 1":                  "division by zero",
		"$filter=length(Id) eq 1":                "length does not work on Edm.Int64",
		"$filter=substring(Title,'x') eq ''":     "substring does not work on Edm.String",
		"$filter=geo.length(Title) eq 1":         "the function geo.length is not supported",
		"$filter=matchesPattern(Title,'(')":      "'(' is no pattern that can be used here",
		`$filter=matchesPattern(Title,'a\b')`:    `'a\b' has a part that databases read differently: \b`,
		`$filter=matchesPattern(Title,'\pL')`:    `'\pL' has a part that databases read differently: a class of too many or no characters`,
		"$filter=matchesPattern(Title,'a{300}')": `'a{300}' has a part that databases read differently: a{300}`,
		"$filter=matchesPattern(Title,'(?m)^a')": `'(?m)^a' has a part that databases read differently: (?m:^)`,
		"$filter=matchesPattern(Title,Isbn)":     "a pattern must be a constant",
		"$filter=Genre gt Title":                 "gt does not work on Genre and Edm.String",
		"$filter=Size gt null":                   "gt does not work on Size and null",
		"$filter=Id in (1,'x')":                  "in does not work on Edm.Int64 and Edm.String; a value of Edm.Int64 has no quotes, as in 42",
		"$filter=cast(Title,Edm.Binary) eq null": "a cast from Edm.String to Edm.Binary is not supported",
		"$filter=cast(Id,Edm.Nothing) eq 1":      `there is no type "Edm.Nothing"`,
		"$filter=case(Id gt 1:1,true:'x') eq 1":  "the results of case have no common type",
		"$orderby=Size":                          "nothing can be ordered by Size",
		"$orderby=Author":                        "nothing can be ordered by Author",
		"$compute=Size as X":                     "Size is not a primitive value",
	}
	for query, want := range cases {
		t.Run(query, func(t *testing.T) {
			_, err := build(t, "Books?"+url.PathEscape(query), bind.Options{Caller: reader()})
			if err == nil || !strings.HasPrefix(err.Error(), want+" (at position ") {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

package odatatest_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// textsOfValues are texts that stand for values of each type, and others that nearly do.
func textsOfValues() []string {
	return []string{
		"", " ", "NULL", "x", "true", "False", "TRUE ", "t", "yes", "1", "0", "-0", "+7", "007", " 7", "7 ", "7\n", "-128", "255", "256", "32768", "2147483648",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "1.5", "1.50", "-1.5", "0.0001", ".5", "5.", "1e3", "1E-3",
		"1.5e+2", "1e15", "1e16", "1e300", "-1e300", "1e999", "1e-999", "1e39", "3.4e38", "1e-45", "INF", "NaN", "inf", "0x10", "1,5", "1_0", "12345678901234567890.123",
		"2024-02-29", "2023-02-29", "1900-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2024-13-01", "2024-04-31", "2024-2-9", "20240229", "0000-00-00",
		"infinity", "now", "today", "epoch", "2024-02-29 10:11:12", "2024-02-29T10:11", "2024-02-29T10:11:12.123456Z", "2024-02-29T10:11:12.1234567Z", "2024-02-29T10:11:12.5000000Z",
		"2024-02-29 10:11:12+02", "2024-02-29T23:59:59-0130", "2024-02-29 10:11:12 +02:00", "2024-02-29T10:11:12+15:00", "2024-02-29T24:00:00Z", "2024-02-29T10:11:60Z", "2024-02-29T10:11:12 CET",
		"0001-01-01T00:00:00+00:01", "0001-01-01T00:00:00-00:01", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:00-00:01", "9999-12-31T23:59:00+00:01", "2024-02-29t10:11:12z",
		"10:11", "10:11:12", "10:11:12.5", "10:11:12.123456", "10:11:12.1234567", "24:00", "23:59:60", "26:00:00", "-10:11", "1:02", "10:11:12Z",
		"PT0S", "PT1H", "-PT1H30M", "+PT90S", "P1DT12H", "PT36H", "PT1.5S", "PT1.1234567S", "P9999999D", "P10000000D", "P", "PT", "P1DT", "P1M", "P1Y2M", "PT1M1H", "1 day", "01:00:00", "pt1h",
		"PT0.000001S", "PT86399.999999S", "0a0b0c0d-0000-0000-0000-000000000001", "0A0B0C0D-0000-0000-0000-00000000000F", "0a0b0c0d000000000000000000000001", "{0a0b0c0d-0000-0000-0000-000000000001}",
		"0a0b0c0d-0000-0000-0000-00000000000g", "ⅷ", "٣", "true\x01", "a\\d", "%", "?", "$1",
	}
}

// textKinds are the types that a text can stand for.
func textKinds() []edm.Kind {
	var list []edm.Kind
	for k := edm.Boolean; k < edm.Stream; k++ {
		if scalar.TextPattern(k) != "" {
			list = append(list, k)
		}
	}
	return list
}

// textEngines have one table of texts, as a set of texts and as one for each type that they may stand for. In the sets
// with "Firm" in their names, null is not allowed.
func textEngines(t *testing.T) []engine {
	t.Helper()
	table := odatatest.Table{Name: "texts", Key: []string{"id"}, Columns: []string{"id big!", "v str", "n big"}}
	for i, text := range textsOfValues() {
		table.Rows = append(table.Rows, []any{i + 1, text, i})
	}
	table.Rows = append(table.Rows, []any{1000, nil, 1000})
	tables := []odatatest.Table{table}
	mapping := sqlsource.Config{Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Texts", Table: "texts"}}}
	for _, k := range textKinds() {
		declared := []sqlsource.Property{{Column: "v", Name: "v", Type: "Edm." + k.String()}}
		mapping.EntitySets = append(mapping.EntitySets, sqlsource.EntitySet{Name: k.String() + "s", Table: "texts", Properties: declared})
		firm := odatatest.Table{Name: "firm" + strings.ToLower(k.String()), Key: []string{"v"}, Columns: []string{"v str!", "w str!"}}
		for i, text := range textsOfValues() {
			if _, ok := scalar.FromText(k, []byte(text)); ok && k != edm.Double && k != edm.Single && len(firm.Rows) == 0 {
				firm.Rows = append(firm.Rows, []any{text, textsOfValues()[len(textsOfValues())-1-i]})
			}
		}
		tables = append(tables, firm)
		declared = append(declared, sqlsource.Property{Column: "w", Name: "w", Type: "Edm." + k.String()})
		mapping.EntitySets = append(mapping.EntitySets, sqlsource.EntitySet{Name: k.String() + "Firm", Table: firm.Name, Properties: declared})
	}
	return enginesOf(t, tables, mapping)
}

// TestFourReadTextsAlike asks for texts that stand for values of another type, because their column is declared so or
// because they are cast: in answers, filters, orders, computed values and keys.
func TestFourReadTextsAlike(t *testing.T) {
	t.Parallel()
	all := textEngines(t)
	asked, refused := 0, 0
	for _, k := range textKinds() {
		set, cast := k.String()+"s", "cast(v,Edm."+k.String()+")"
		constants := map[edm.Kind]string{
			edm.Boolean: "true", edm.Decimal: "1.5", edm.Single: "1.5", edm.Double: "1.5e2", edm.Guid: "0a0b0c0d-0000-0000-0000-00000000000f", edm.Date: "2024-02-29",
			edm.DateTimeOffset: "2024-02-29T10:11:12Z", edm.TimeOfDay: "10:11:12", edm.Duration: "duration'PT1H'",
		}
		c := constants[k]
		if k.Integer() {
			c = "7"
		}
		targets := []string{
			set + "?$count=true", set + "?$orderby=v,id", set + "?$orderby=v desc,id&$select=id", set + "?$filter=v eq null&$select=id", set + "?$filter=v ne " + c + "&$select=id",
			set + "?$filter=v eq " + c, set + "?$filter=v ge " + c, set + "?$filter=not (v lt " + c + ")&$select=id", set + "?$filter=v in (" + c + ",null)&$select=id",
			set + "?$compute=case(v ne null:1,true:2) as x&$select=id,x", set + "?$filter=cast(v,Edm.String) eq '7' or cast(v,Edm.String) in ('2024-02-29','PT1H','1.5','2024-02-29T10:11:00Z','10:11:12.5')",
			"Texts?$compute=" + cast + " as x&$select=id,x", "Texts?$filter=" + cast + " eq " + c, "Texts?$filter=" + cast + " le " + c + "&$orderby=" + cast + " desc,id",
			"Texts?$filter=not (" + cast + " eq null)&$select=id", "Texts?$filter=cast(concat('',v),Edm." + k.String() + ") gt " + c,
			k.String() + "Firm?$select=v", k.String() + "Firm?$filter=v eq " + c + "&$select=v", k.String() + "Firm(" + c + ")/v/$value", k.String() + "Firm?$filter=w eq null&$select=v",
		}
		if k != edm.Boolean && k != edm.Guid {
			targets = append(targets, set+"?$filter=v lt "+c+" and v ne null&$orderby=v desc,id desc&$top=5&$skip=1")
		}
		for i, text := range textsOfValues() {
			if !strings.ContainsAny(text, "\n\x01%$?\\") && i%4 == 0 {
				targets = append(targets, "Texts(1)?$compute=cast('"+strings.ReplaceAll(text, "+", "%2B")+"',Edm."+k.String()+") as x&$select=x")
			}
		}
		for _, target := range targets {
			want := all[0].ask(target)
			if asked++; want[0] != '2' {
				refused++
			}
			for _, e := range all[1:] {
				if got := e.ask(target); got != want {
					t.Errorf("GET %s\n  memory %.700s\n%8s %.700s", target, want, e.name, got)
				}
			}
		}
	}
	if refused > asked/20 {
		t.Errorf("%d of %d requests are no requests at all", refused, asked)
	}
}

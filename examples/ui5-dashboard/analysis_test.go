package dashboard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

const (
	analysisID = "fernweh-dashboard---analysis--"
	sums       = "#" + analysisID
)

// lines is what the table of sums shows: for each line the title of the group, where
// it has one, and the cells.
const lines = `(() => {
	const table = sap.ui.require('sap/ui/core/Element').getElementById('` + analysisID + `table');
	const binding = table?.getBinding('rows');
	if (!binding || document.querySelector('` + sums + `table .sapUiLocalBusy')) return null;
	const filled = table.getRows().filter((row) => row.getBindingContext());
	if (filled.some((row) => row.getBindingContext().getProperty('n') === undefined || !document.getElementById(row.getId()))) return null; // on its way
	return filled.map((row) => {
		const line = document.getElementById(row.getId());
		const title = seen(document.getElementById(row.getId() + '-groupHeader'));
		return [...(title ? [title] : []), ...[...line.querySelectorAll('td.sapUiTableDataCell')].map(seen).filter(Boolean)];
	});
})()`

// sumsOf is the number of products, their stock, and their price on average.
const sumsOf = `count(*), sum(p.stock), printf('%.2f', avg(p.price)) `

// joined are products with what the sums are by.
const joined = `FROM products p JOIN categories c ON c.id = p.category_id JOIN suppliers s ON s.id = p.supplier_id `

// sums returns lines of the database as the table shows them in English.
func (s *site) sums(t testing.TB, title, rest string, args ...any) [][]string {
	t.Helper()
	found := s.rows(t, `SELECT `+title+`, `+sumsOf+rest, args...)
	for _, r := range found {
		r[1], r[2], r[3] = grouped(number(t, r[1]), ","), grouped(number(t, r[2]), ","), money(r[3])
	}
	return found
}

// begins waits until the table begins with these lines.
func (b *tab) begins(what string, want [][]string) {
	b.T.Helper()
	first := fmt.Sprintf(`JSON.stringify((%s ?? []).slice(0, %d))`, lines, len(want))
	var got string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got = browsertest.Eval[string](b.Tab, first); got == quoted(b.T, want) {
			return
		}
	}
	var shown [][]string
	if err := json.Unmarshal([]byte(got), &shown); err != nil {
		b.T.Fatal(err)
	}
	same(b.T, what, shown, want)
	b.T.FailNow()
}

func quoted(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fold opens or closes the group in a line.
func (b *tab) fold(line int) {
	b.T.Helper()
	b.clickFound(fmt.Sprintf(`document.getElementById('%srows-row%d-groupHeader').closest('.sapUiTableCell')`, analysisID+"table-", line))
}

// analysis looks at sums of products by category: opens groups, filters before and after
// the sums are made, and sorts by them. Each sum is that of the database.
func analysis(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("")
	b.Click(list + "analysis")
	b.Wait(`location.hash === '#/analysis'`)

	total := s.sums(t, `'Total'`, joined)
	groups := s.sums(t, `c.name`, joined+`GROUP BY c.name ORDER BY c.name LIMIT 8`)
	b.begins("total and groups", append(total, groups...))
	b.Picture("analysis")
	b.fold(1)
	b.openGroup(groups)
	b.Picture("analysis.open")
	b.fold(1)
	b.begins("closed again", append(total, groups...))
	b.filterSums()
	b.Click(sums + "back")
	b.await(list+"heading", s.heading(t, ""))
	analysisLooks(t, s)
}

// analysisLooks sees the sums in German, in the dark, and on the narrowest phone.
func analysisLooks(t *testing.T, s *site) {
	b := open(t, s, look{name: "de.phone", language: "de-DE", scheme: "dark", width: 320, height: 640})
	b.visit("#/analysis")
	total := s.one(t, `SELECT sum(stock) FROM products`)
	b.Wait(fmt.Sprintf(`(%s ?? [[]])[0].join(' ').startsWith('Gesamt 20.000 %s ')`, lines, grouped(number(t, total), ".")))
	b.await(sums+"heading", "Bestand nach Kategorie")
	b.still()
	b.Picture("analysis.de.phone")
	if wide := browsertest.Eval[float64](b.Tab, `document.documentElement.scrollWidth`); wide > 320 {
		t.Errorf("scrolls sideways: %v", wide)
	}
	b.axe(`{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }`, `() => true`)
}

// openGroup opens the second level of the first group, and compares both.
func (b *tab) openGroup(groups [][]string) {
	b.T.Helper()
	s, t := b.site, b.T
	within := joined + `WHERE c.name = ? `
	title := `CASE p.discontinued WHEN 0 THEN 'For sale' ELSE 'Discontinued' END`
	halves := s.sums(t, title, within+`GROUP BY p.discontinued ORDER BY p.discontinued`, groups[0][0])
	total := s.sums(t, `'Total'`, joined)
	b.begins("the halves of a group", slices.Concat(total, groups[:1], halves, groups[1:2]))
	b.fold(2)
	suppliers := s.sums(t, `s.name`, within+`AND p.discontinued = 0 GROUP BY s.name ORDER BY s.name LIMIT 6`, groups[0][0])
	b.begins("suppliers in a half", slices.Concat(total, groups[:1], halves[:1], suppliers))
}

// filterSums filters before and after the sums are made, and sorts by one of them.
func (b *tab) filterSums() {
	b.T.Helper()
	s, t := b.site, b.T
	const least = `WHERE (p.category_id, p.discontinued, p.supplier_id) IN (SELECT category_id, discontinued, supplier_id
		FROM products GROUP BY category_id, discontinued, supplier_id HAVING sum(stock) >= 1000) `
	b.pickOn(sums, "atLeast", "from 1,000")
	b.begins("filtered by a sum", slices.Concat(s.sums(t, `'Total'`, joined+least),
		s.sums(t, `c.name`, joined+least+`GROUP BY c.name ORDER BY c.name LIMIT 3`)))

	b.pickOn(sums, "atLeast", "All")
	name := s.one(t, `SELECT name FROM suppliers ORDER BY name LIMIT 1`)
	b.pickOn(sums, "supplier", name)
	of := joined + `WHERE s.name = ? `
	b.begins("of one supplier", slices.Concat(s.sums(t, `'Total'`, of, name),
		s.sums(t, `c.name`, of+`GROUP BY c.name ORDER BY c.name LIMIT 3`, name)))

	b.sortOn(sums, "columnStock", "Stock", "Descending")
	b.begins("by stock", slices.Concat(s.sums(t, `'Total'`, of, name),
		s.sums(t, `c.name`, of+`GROUP BY c.name ORDER BY sum(p.stock) DESC, c.id LIMIT 5`, name)))
	parts, direct := b.batched()
	for _, want := range []string{"/orderby(category/name)/concat(", "filter($these/aggregate(stock", "$apply=filter(supplier_id", "/orderby(stock%20desc)"} {
		if !strings.Contains(strings.Join(parts, "\n"), want) || len(direct) > 0 {
			t.Errorf("no part of a batch has %s, or there was more than batches:\n%s\n%s", want, strings.Join(parts, "\n"), direct)
		}
	}
}

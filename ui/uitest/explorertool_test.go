package uitest

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// heads returns the headings of the columns of the table.
func (b *tab) heads() string {
	b.T.Helper()
	return browsertest.Eval[string](b.Tab, `[...document.querySelectorAll('thead th')].map((th) => th.innerText.trim()).join()`)
}

// rows returns the one column of a query of the host's database, each value as text.
func (r *real) rows(query string) []string {
	r.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(r.dir, "vestibule.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	found, err := db.Query(query)
	if err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = found.Close() }()
	var out []string
	for found.Next() {
		var value string
		if err := found.Scan(&value); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, value)
	}
	if err := found.Err(); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// pick chooses a value of a select element as people do, which the page hears.
func (b *tab) pick(selector, value string) {
	b.T.Helper()
	b.Choose(selector, value)
	browsertest.Eval[any](b.Tab, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new Event('change')); null`, selector))
}

// explored returns a page of the explorer at an address, after the sign-in.
func explored(t *testing.T, r *real, address string) *tab {
	t.Helper()
	b := open(t)
	b.Visit(r.base + "/odata/" + address)
	b.signIn(password)
	b.Wait(`location.pathname === '/odata/' && document.querySelector('tbody tr, ul.sets') !== null`)
	return b
}

// Each condition has a button that takes it away. The keyboard goes on with the next one.
func TestExplorerFilters(t *testing.T) {
	source := needAxe(t)
	r := newLarge(t)
	b := explored(t, r, "?lang=en#/Many?name.has=row&price.ge=5&price.le=900&weight.null=&maker_id.is=1")
	b.Wait(`document.querySelectorAll('.chips button').length === 5`)
	if got, want := b.Text(".chips"), "Name: row\n✕\nPrice: 5..900\n✕\nMaker: #1\n✕\nWeight: no value\n✕\nRemove all"; got != want {
		t.Errorf("the filters are\n%s\nwant\n%s", got, want)
	}
	b.axe(source, "filters", true)
	b.Click(`[aria-label="Remove the filter Weight: no value"]`)
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1 to 50 of 447' && document.querySelectorAll('.chips button').length === 4`)
	browsertest.Eval[any](b.Tab, `document.querySelector('.chips button').focus()`)
	b.Press(kb.Enter)
	b.Wait(`!location.hash.includes('name') && document.querySelectorAll('.chips button').length === 3`)
	b.Focused(`[aria-label="Remove the filter Price: 5..900"]`)
	b.Visit(r.base + "/odata/?lang=de#/Many?weight.eq=3&price.ge=5.5&~group=maker_id")
	b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
	b.Media("dark")
	b.Picture("explorer-filters-dark-de")
	b.axe(source, "filters of groups, dark, German", false)
	b.Click(`.chips li:last-child button`)
	b.Wait(`document.querySelector('.chips') === null && !location.hash.includes('price') && location.hash.includes('group=maker_id')`)
}

// Columns are chosen and put in order by keyboard. Table, address and file have them.
func TestExplorerColumns(t *testing.T) {
	source := needAxe(t)
	r := newLarge(t)
	b := explored(t, r, "?lang=en#/Many?name.has=row+12")
	b.Wait(`document.querySelectorAll('tbody tr').length === 46`)
	button := `[...document.querySelectorAll('.tools button')].find((x) => x.textContent === 'Columns')`
	browsertest.Eval[any](b.Tab, button+`.focus()`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelectorAll('dialog li').length === 6`)
	b.axe(source, "the choice of columns", false)
	b.Picture("explorer-columns")
	browsertest.Eval[any](b.Tab, `document.querySelector('dialog input[value=price]').focus()`)
	b.Press(" ") // not the price
	browsertest.Eval[any](b.Tab, `document.querySelector('dialog input[value=made_on]').focus()`)
	b.Press(" ", kb.Tab)
	b.Focused(`[aria-label="Move Made on up"]`)
	for range 5 {
		b.Press(kb.Enter)
	}
	b.Wait(`document.querySelector('dialog [role=status]').textContent === 'Made on: now 1 of 6'`)
	b.Focused(`[aria-label="Move Made on up"]`)
	b.Click(`dialog [value=apply]`)
	b.Wait(`location.hash.includes('columns=made_on%2Cname%2Cmaker_id') && document.querySelectorAll('tbody tr').length === 46`)
	if got := b.heads(); got != "Made on,Name,Maker" {
		t.Errorf("the columns are %s", got)
	}
	b.Wait(`document.activeElement === ` + button)
	b.Wait(`document.querySelector('.elsewhere button') !== null`)
	b.Click(`.elsewhere button`)
	b.Wait(`document.querySelector('dialog a')?.textContent === 'Download 46 rows as CSV'`)
	file := browsertest.Eval[string](b.Tab, `fetch(document.querySelector('dialog a').href).then((r) => r.text())`)
	if head, _, _ := strings.Cut(file, "\r\n"); head != "made_on,name,maker_id,id" {
		t.Errorf("the file has the columns %s", head)
	}
	b.Press(kb.Escape)
	// Nothing was chosen, then the usual ones.
	browsertest.Eval[any](b.Tab, button+`.click()`)
	b.Wait(`document.querySelector('dialog') !== null`)
	b.Press(kb.Escape)
	b.Wait(`document.querySelector('dialog') === null`)
	browsertest.Eval[any](b.Tab, button+`.click()`)
	b.Wait(`document.querySelector('dialog') !== null`)
	browsertest.Eval[any](b.Tab, `document.querySelectorAll('dialog input').forEach((x) => (x.checked = false))`)
	b.Click(`dialog [value=apply]`)
	b.See("Choose at least one column.")
	b.Click(`dialog [value=usual]`)
	b.Wait(`!location.hash.includes('columns')`)
	b.Wait(`[...document.querySelectorAll('thead th')].map((th) => th.innerText.trim()).join() === 'Name,Price,Maker'`)
	b.Media("dark")
	b.Size(narrow, 700)
	b.Visit(r.base + "/odata/?lang=de#/Many?~columns=made_on,name")
	b.Wait(`document.querySelectorAll('thead th').length === 2`)
	browsertest.Eval[any](b.Tab, `[...document.querySelectorAll('.tools button')].find((x) => x.textContent === 'Spalten').click()`)
	b.Wait(`document.querySelectorAll('dialog li').length === 6`)
	b.axe(source, "the choice of columns, phone, dark, German", false)
	b.Picture("explorer-columns-320-dark-de")
}

// Pages: first, previous, next and last, how many rows, and a column that stays in sight.
func TestExplorerPages(t *testing.T) {
	r := newLarge(t)
	b := explored(t, r, "?lang=en#/Many?~columns=*")
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1 to 50 of 1,234'`)
	pages := func(want string) {
		t.Helper()
		b.Wait(fmt.Sprintf(`[...document.querySelectorAll('.below nav a')].map((a) => a.textContent).join() === %q`, want))
	}
	pages("Next,Last")
	b.Click(`.below nav a:last-child`)
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1,201 to 1,234 of 1,234'`)
	pages("First,Previous")
	b.pick(`.below select`, "100")
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1,201 to 1,234 of 1,234' && location.hash.endsWith('size=100&%7Eskip=1200')`)
	b.Wait(`document.querySelector('.below nav a:last-child')?.getAttribute('href').endsWith('skip=1100')`)
	b.Click(`.below nav a:last-child`)
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1,101 to 1,200 of 1,234'`)
	pages("First,Previous,Next")
	browsertest.Eval[any](b.Tab, `[...document.querySelectorAll('.below nav a')][1].focus()`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1,001 to 1,100 of 1,234' && document.activeElement.textContent === 'Previous'`)
	pages("First,Previous,Next,Last")

	b.Size(800, 600)
	at := browsertest.Eval[[]float64](b.Tab, `(() => {
		const box = document.querySelector('.table');
		box.scrollLeft = 200;
		return [box.scrollLeft, ...[...document.querySelectorAll('thead tr:first-child th:first-child, tbody tr:first-child > :first-child')].slice(0, 2).map((cell) => cell.getBoundingClientRect().left - box.getBoundingClientRect().left)];
	})()`)
	if at[0] == 0 || at[1] > 2 || at[2] > 2 {
		t.Errorf("scrolled by %.0f px, heading and cell of the first column are at %.0f and %.0f px", at[0], at[1], at[2])
	}
	b.Picture("explorer-sticky")
}

// The values of a column stand beside the table, counted under the conditions of the other
// columns. A value is chosen and taken back by keyboard; null and empty text differ.
func TestExplorerFacets(t *testing.T) {
	source := needAxe(t)
	r := newOdd(t)
	b := explored(t, r, "?lang=en#/Odd?done.eq=true")
	b.Wait(`document.querySelector('.below .hint')?.textContent === '1 to 50 of 50'`)
	open := func(button string) {
		browsertest.Eval[any](b.Tab, fmt.Sprintf(`[...document.querySelectorAll('.tools button')].find((x) => x.textContent === %q).click()`, button))
		b.Wait(`document.querySelector('.facets') !== null`)
	}
	open("Values")
	facet := func(column string) string {
		return fmt.Sprintf(`document.querySelector('.facets [data-column=%s]')`, column)
	}
	values := func(column string) []string {
		b.Wait(facet(column) + `.querySelector('button, .hint:not([aria-busy])')?.matches('button') && ` + facet(column) + `.querySelector('[aria-busy]') === null`)
		return browsertest.Eval[[]string](b.Tab, `[...`+facet(column)+`.querySelectorAll('.facet')].map((x) => x.innerText.replace(/\s+/g, ' ').trim())`)
	}
	browsertest.Eval[any](b.Tab, facet("done")+`.open = true`)
	done := values("done")
	slices.Sort(done)
	if got := strings.Join(done, ","); got != "No 50,Yes 50,no value 50" {
		t.Errorf("under no other condition the values are %s", got)
	}
	browsertest.Eval[any](b.Tab, facet("code")+`.open = true`)
	want := r.rows(`SELECT CASE WHEN o.code IS NULL THEN 'no value' ELSE c.label || CASE WHEN c.label = 'Same' THEN ' #' || trim(o.code) ELSE '' END END || ' ' || count(*)
		FROM odd o LEFT JOIN codes c ON c.code = o.code WHERE o.done GROUP BY o.code`)
	got := values("code")
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the values of a key (-SQL +page):\n%s", d)
	}
	b.axe(source, "facets", true)
	b.Picture("explorer-facets")
	browsertest.Eval[any](b.Tab, facet("code")+`.querySelector('[data-value="null "]').focus()`)
	b.Press(kb.Enter)
	b.Wait(`location.hash.includes('code.null=') && document.activeElement.getAttribute('aria-pressed') === 'true'`)
	count := r.rows(`SELECT count(*) FROM odd WHERE done AND code IS NULL`)[0]
	b.Wait(fmt.Sprintf(`document.querySelector('.below .hint')?.textContent === '1 to %[1]s of %[1]s'`, count))
	b.Press(kb.Enter)
	b.Wait(`!location.hash.includes('code.null=') && document.querySelector('.below .hint')?.textContent === '1 to 50 of 50'`)
	b.Media("dark")
	b.Size(narrow, 700)
	b.Visit(r.base + "/odata/?lang=de#/Odd")
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	open("Werte")
	browsertest.Eval[any](b.Tab, facet("note")+`.open = true`)
	values("note")
	b.Wait(facet("note") + `.querySelector('a')?.textContent === 'Alle Werte'`)
	b.axe(source, "facets, phone, dark, German", false)
	b.Picture("explorer-facets-320-dark-de")
}

// The dialog for other programs has the file, the address and commands. A token is in the
// command alone: no address and no storage has it.
func TestExplorerExport(t *testing.T) {
	source := needAxe(t)
	r := newLarge(t)
	b := explored(t, r, "?lang=en#/Many?maker_id.is=1")
	b.Click(`.elsewhere button`)
	b.Wait(`document.querySelector('dialog a')?.textContent === 'Download 617 rows as CSV'`)
	b.axe(source, "export", true)
	token := "vst_" + strings.Repeat("x", 40)
	b.Fill(`#export-token`, token)
	b.Wait(fmt.Sprintf(`document.querySelector('dialog').innerText.includes("-H 'Authorization: Bearer %s'")`, token))
	b.Picture("explorer-export")
	b.Press(kb.Escape)
	b.Wait(`document.querySelector('dialog') === null`)
	b.Focused(`.elsewhere button`)
	b.Press(kb.Enter)
	b.Wait(fmt.Sprintf(`document.querySelector('#export-token')?.value === %q`, token))
	if kept := browsertest.Eval[string](b.Tab, `JSON.stringify([location.href, history.state, {...localStorage}, {...sessionStorage}, document.cookie])`); strings.Contains(kept, token) {
		t.Errorf("the token is in %s", kept)
	}
	b.Media("dark")
	b.Visit(r.base + "/odata/?lang=de#/Many(1)")
	b.Wait(`document.querySelector('h1')?.textContent === 'Row 1'`)
	b.Click(`.elsewhere button`)
	b.Wait(`document.querySelector('#export-token')?.value === ''`)
	b.Picture("explorer-export-dark-de")
	b.axe(source, "export of a row, dark, German", false)
}

// Groups go by two columns, one of them by month, with a total that is chosen. The
// first cell shows the rows that the group counts, and a chart shows what the table shows.
func TestExplorerTotals(t *testing.T) {
	source := needAxe(t)
	r := newOdd(t)
	b := explored(t, r, "?lang=en#/Odd")
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	b.pick(`[aria-label=Totals]`, "min")
	want := r.rows(`SELECT min(big) FROM odd`)[0]
	b.Wait(`document.querySelector('tfoot')?.innerText.includes('Minimum') && location.hash.includes('total=min')`)
	if foot := strings.ReplaceAll(b.Text("tfoot"), ",", ""); !strings.Contains(foot, want) {
		t.Errorf("the minimum is %s, the page shows %s", want, foot)
	}
	b.Wait(`document.querySelector('tfoot').innerText.includes('0001-01-01')`)

	b.pick(`[aria-label="Rows, or numbers for each value"]`, "at.month")
	b.Wait(`document.querySelector('[aria-label="Second grouping"]') !== null && location.hash.includes('group=at.month')`)
	b.pick(`[aria-label="Second grouping"]`, "done")
	b.Wait(`document.querySelector('thead').innerText.includes('At (month, UTC)') && document.querySelector('thead').innerText.includes('Done')`)
	b.pick(`[aria-label=Totals]`, "max")
	b.Wait(`document.querySelector('thead').innerText.includes('Amount (Maximum)')`)
	groups := r.rows(`SELECT count(*) FROM odd GROUP BY strftime('%Y-%m', at), done`)
	b.Wait(fmt.Sprintf(`document.querySelectorAll('tbody tr').length === %d`, len(groups)))
	counts := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('tbody tr')].map((r) => r.cells[2].innerText)`)
	slices.Sort(counts)
	slices.Sort(groups)
	if d := cmp.Diff(groups, counts); d != "" {
		t.Errorf("the numbers of rows (-SQL +page):\n%s", d)
	}
	b.pick(`[aria-label=Chart]`, "rows_in_group")
	b.Wait(fmt.Sprintf(`document.querySelectorAll('.chart li').length === %d`, len(groups)))
	b.axe(source, "a chart", true)
	b.Picture("explorer-chart")
	rows := browsertest.Eval[[][]string](b.Tab, `[...document.querySelectorAll('tbody tr')].map((r) => [r.cells[2].innerText, r.querySelector('a').getAttribute('href')])`)
	bars := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('.chart li')].map((x) => x.lastChild.innerText)`)
	browsertest.Eval[any](b.Tab, walk+`null`)
	for i, row := range rows {
		if bars[i] != row[0] {
			t.Errorf("the bar of %s shows %s, the table %s", row[1], bars[i], row[0])
		}
		if got := browsertest.Eval[any](b.Tab, fmt.Sprintf(`walk(%q)`, row[1])); fmt.Sprint(got) != row[0] {
			t.Errorf("a group counts %s rows, %s shows %v", row[0], row[1], got)
		}
	}
	b.Media("dark")
	b.Size(narrow, 700)
	b.Visit(r.base + "/odata/?lang=de#/Odd?~group=at.month&~chart=amount")
	b.Wait(`document.querySelector('.chart li') !== null`)
	b.axe(source, "a chart, phone, dark, German", false)
	b.Picture("explorer-chart-320-dark-de")
}

// The home page and a row have numbers of rows beside their links. A number that takes
// long is left to the reader, and one that is asked for can be stopped.
func TestExplorerCounts(t *testing.T) {
	source := needAxe(t)
	r := newLarge(t)
	b := explored(t, r, "?lang=en")
	item := func(set string) string {
		return fmt.Sprintf(`document.querySelector('main a[href="#/%s"]').parentElement.innerText`, set)
	}
	b.Wait(item("Many") + `.includes('1,234 rows') && ` + item("Makers") + `.includes('2 rows')`)
	b.Wait(item("Slow") + `.includes('Count rows')`)
	b.Wait(`document.querySelector('.waiting').textContent === ''`)
	b.axe(source, "numbers of rows", false)
	b.Picture("explorer-counts")
	b.Click(`[aria-label="Count rows: Slow"]`)
	b.Wait(`document.querySelector('.waiting')?.innerText.includes('One moment')`)
	b.Click(`.waiting button`)
	b.Wait(item("Slow") + `.includes('Count rows') && document.querySelector('.waiting').textContent === ''`)
	b.Visit(r.base + "/odata/?lang=de#/Makers(1)")
	b.Wait(`document.querySelector('a[href="#/Makers(1)/Many"]')?.parentElement.innerText.includes('617 Zeilen')`)
}

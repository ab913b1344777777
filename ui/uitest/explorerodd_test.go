package uitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// oddTexts returns the values of a text column that look alike or have signs of a
// language in them.
func oddTexts() []string {
	return []string{
		"", " ", "Frank", "Frank ", " Frank", "frank", "FRANK", "a\nb", "a b", "a  b", "\t", `"`, `""`, `"a`, "O'Hara", "=", "=5", "#1", "-", "–", "5..10", "null",
		"Größe, klein", "GRÖSSE, KLEIN", "日本語", "(x)", "x)", "a,b;c", "a&b=c+d%20", "50 %", `a\b`, "empty text", "no value", strings.Repeat("long ", 60), strings.Repeat("long ", 60) + "!",
		strings.Repeat("ü", 3000),
	}
}

// oddRows returns the statements that make the tables of the test: each text in
// some rows, and numbers and days at the ends of their types.
func oddRows() string {
	var s strings.Builder
	s.WriteString(`partner_id INTEGER DEFAULT 7;
		CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
		INSERT INTO customers VALUES (1, 'Frank'), (2, 'Frank'), (3, ''), (4, NULL), (5, 'Frank '), (6, '#1');
		CREATE TABLE codes (code TEXT PRIMARY KEY, label TEXT);
		INSERT INTO codes VALUES ('a', 'Same'), ('A', 'Same'), ('a ', 'Same'), ('', 'Nothing'), ('O''Hara', '=x');
		CREATE TABLE odd (id INTEGER PRIMARY KEY, note TEXT, customer_id INTEGER REFERENCES customers (id), code TEXT REFERENCES codes (code),
			amount DECIMAL(20, 2), big BIGINT, measure DOUBLE, day DATE, at DATETIME, done BOOLEAN, clock TIME);
	`)
	pick := func(i int, values ...string) string { return values[i%len(values)] }
	texts := oddTexts()
	for i := range 150 {
		note := "NULL"
		if i%11 != 0 {
			note = "'" + strings.ReplaceAll(texts[i%len(texts)], "'", "''") + "'"
		}
		fmt.Fprintf(&s, "INSERT INTO odd VALUES (%d, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);\n", i, note,
			pick(i, "1", "2", "2", "3", "4", "NULL", "5", "6"),
			pick(i, "'a'", "'A'", "'a '", "''", "NULL", "'O''Hara'", "'a'"),
			pick(i, "'0.00'", "'-0.01'", "'1235.50'", "NULL", "'999999999999999999.99'", "'-999999999999999999.99'"),
			pick(i, "0", "9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL"),
			pick(i, "0.1", "0.30000000000000004", "1e300", "-5e-324", "NULL", "1e21", "123456789.125"),
			pick(i, "'0001-01-01'", "'9999-12-31'", "NULL", "'2024-02-29'", "'2026-05-01'"),
			pick(i, "'2026-05-01 00:00:00'", "'2026-04-30 22:00:00'", "'2026-04-30 21:59:59'", "'2026-05-01 21:59:59'", "'2026-05-01 23:59:59'", "'2026-03-29 01:00:00'", "'2026-01-01 00:30:00'", "NULL", "'2026-05-01 10:00:00'", "'2026-05-01 14:00:00'", "'2026-05-02 03:00:00'"),
			pick(i, "TRUE", "FALSE", "NULL"),
			pick(i, "'00:00:00'", "NULL", "'23:59:59'"))
	}
	return s.String()
}

// newOdd starts the real binary with the odd tables.
func newOdd(t *testing.T) *real {
	t.Helper()
	return newRealWith(t, "", `
odata {
  entity_set "Odd" {
    table  = "odd"
    search = ["note"]
    property "amount" {
      currency = "'EUR'"
    }
  }
  entity_set "Customers" {
    table = "customers"
    list  = ["id"]
  }
  entity_set "Codes" {
    table = "codes"
  }
}
`, oddRows())
}

// walk is the script by which these tests go from address to address. It waits until
// the rows of an address are there and returns their number.
const walk = `
window.walk = async (hash) => {
	const changed = hash === location.hash ? Promise.resolve() : new Promise((ok) => addEventListener('hashchange', ok, { once: true }));
	location.hash = hash;
	await changed;
	return await settled();
};
window.settled = async () => {
	for (let i = 0; i < 1500; i++) {
		await new Promise((ok) => setTimeout(ok, 20));
		const fault = document.querySelector('.strip');
		if (fault) return fault.innerText;
		const of = document.querySelector('.below .hint')?.textContent.match(/(?:of|von) ([\d.,]+)/);
		if (of && !document.querySelector('.table[aria-busy]')) return Number(of[1].replace(/[.,]/g, ''));
	}
	return 'nothing came';
};
window.type = (label, text) => {
	const field = document.querySelector('[aria-label="' + label + '"]');
	field.value = text;
	field.dispatchEvent(new Event('input'));
	field.dispatchEvent(new Event('change'));
};
`

// The link of a group shows as many rows as the group counts: for each column, alone and behind
// filters, in two languages and zones. What the groups count is all rows.
func TestExplorerGroups(t *testing.T) {
	r := newOdd(t)
	b := open(t)
	b.Visit(r.base + "/odata/")
	b.signIn(password)
	b.Wait(`location.pathname === '/odata/' && document.querySelector('ul.sets') !== null`)
	bases := map[string][]string{
		"America/Sao_Paulo": {"", "note.has=frank&done.eq=true&", "%7Esearch=frank&", "at.ge=2026-04-30T22:00:00Z&at.lt=2026-05-01T22:00:00Z&"},
		"Europe/Berlin":     {"customer_id.has=frank&", "code.is=a+&amount.ge=0&"},
	}
	followed := 0
	for zone, list := range bases {
		lang := map[string]string{"America/Sao_Paulo": "en", "Europe/Berlin": "de"}[zone]
		browsertest.Call(b.Tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
		b.Visit(r.base + "/odata/?lang=" + lang)
		b.Wait(`document.querySelector('ul.sets') !== null`)
		browsertest.Eval[any](b.Tab, walk)
		for _, base := range list {
			for _, column := range []string{"note", "customer_id", "code", "amount", "big", "measure", "day", "at", "done", "clock"} {
				if base != "" && (column == "big" || column == "clock" || column == "measure" || column == "at") {
					continue // as alone
				}
				followed += b.followGroups(lang, base, "Odd", column)
				if base == "" && (column == "note" || column == "customer_id") {
					b.Visit(r.base + "/odata/?lang=" + lang + "#/Odd?~group=" + column)
					b.Wait(`document.querySelector('tbody tr') !== null`)
					b.Picture("explorer-groups-" + column)
					browsertest.Eval[any](b.Tab, walk)
				}
			}
		}
	}
	t.Logf("%d links followed", followed)
	if followed < 120 {
		t.Errorf("only %d links were followed", followed)
	}
}

// aGroup is a row of the table of groups.
type aGroup struct {
	Text, HTML, Href string
	Count            int
}

// followGroups groups rows by a column, follows the link of each group and returns how
// many there were.
func (b *tab) followGroups(lang, base, set, column string) int {
	b.T.Helper()
	at := fmt.Sprintf("%s, %q by %s", lang, base, column)
	all := browsertest.Eval[any](b.Tab, fmt.Sprintf(`walk('#/' + %q + '?' + %q)`, set, strings.TrimSuffix(base, "&")))
	groups := browsertest.Eval[any](b.Tab, fmt.Sprintf(`walk('#/' + %q + '?' + %q)`, set, base+"%7Egroup="+column))
	rows := browsertest.Eval[[]aGroup](b.Tab, `[...document.querySelectorAll('tbody tr')].map((r) => ({
		Text: r.cells[0].innerText, HTML: r.cells[0].innerHTML.replace(/ href="[^"]*"/, ''), Href: r.cells[0].querySelector('a')?.getAttribute('href') ?? '',
		Count: Number(r.cells[1].textContent.replace(/[.,]/g, '')),
	}))`)
	if groups != float64(len(rows)) {
		b.T.Errorf("%s: %v groups, %d rows", at, groups, len(rows))
	}
	sum, looks := 0, map[string]bool{}
	for _, row := range rows {
		sum += row.Count
		if looks[row.HTML] {
			b.T.Errorf("%s: two groups look like %q", at, row.Text)
		}
		looks[row.HTML] = true
		shown := browsertest.Eval[any](b.Tab, fmt.Sprintf(`walk(%q)`, row.Href))
		if shown != float64(row.Count) {
			b.T.Errorf("%s: %.40q counts %d and leads to %v by %.90s", at, row.Text, row.Count, shown, row.Href)
		}
	}
	if all != float64(sum) {
		b.T.Errorf("%s: the groups count %d rows of %v", at, sum, all)
	}
	return len(rows)
}

// A day above a column of instants is the day of the reader: it finds the rows whose
// cells show that day, and no others, as does what a cell shows.
func TestExplorerDays(t *testing.T) {
	r := newOdd(t)
	b := open(t)
	b.Visit(r.base + "/odata/")
	b.signIn(password)
	b.Wait(`location.pathname === '/odata/' && document.querySelector('ul.sets') !== null`)
	for lang, zones := range map[string][]string{"de": {"Europe/Berlin", "Asia/Kolkata"}, "en": {"America/New_York", "Pacific/Kiritimati"}} {
		for _, zone := range zones {
			browsertest.Call(b.Tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
			b.Visit(r.base + "/odata/?lang=" + lang + "#/Odd?~search=frank")
			b.Wait(`document.querySelector('.below .hint') !== null`)
			browsertest.Eval[any](b.Tab, walk)
			for _, fault := range browsertest.Eval[[]string](b.Tab, typeDays) {
				t.Errorf("%s in %s: %s", lang, zone, fault)
			}
		}
	}
}

// typeDays types what the cells of the column of instants show, and the days of these.
const typeDays = `(async () => {
	const faults = [];
	await walk('#/Odd?at.ge=2026-01-01T00:00:00Z&~sort=at');
	const at = [...document.querySelectorAll('thead th')].findIndex((th) => th.innerText.startsWith('At'));
	const label = document.querySelectorAll('.filters td')[at].querySelector('input').getAttribute('aria-label');
	const all = [];
	for (let skip = 0; ; skip += 50) {
		await walk('#/Odd?at.ge=2026-01-01T00:00:00Z&~sort=at' + (skip ? '&~skip=' + skip : ''));
		const page = [...document.querySelectorAll('tbody tr')].map((r) => r.cells[at].innerText);
		all.push(...page);
		if (page.length < 50) break;
	}
	const day = (shown) => shown.replace(/,? \d{1,2}:\d\d.*$/, '');
	for (const typed of new Set([...all, ...all.map(day)])) {
		const want = all.filter((shown) => shown === typed || day(shown) === typed).length;
		await walk('#/Odd');
		type(label, typed);
		const got = await settled();
		if (got !== want) faults.push(typed + ' finds ' + got + ' of ' + want + ' rows at ' + location.hash);
		const cells = [...document.querySelectorAll('tbody tr')].map((r) => r.cells[at].innerText);
		if (cells.some((shown) => shown !== typed && day(shown) !== typed)) faults.push(typed + ' shows ' + cells);
		const field = document.querySelector('[aria-label="' + label + '"]').value;
		if (field !== typed) faults.push(typed + ' stands as ' + field);
	}
	return faults;
})()`

// What a German types is read as Germans write; what cannot be read stays where it
// was typed, says why, and shows no rows. An address is as careful.
func TestExplorerTyping(t *testing.T) {
	source := needAxe(t)
	r := newOdd(t)
	b := open(t)
	browsertest.Call(b.Tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Europe/Berlin"})
	b.Visit(r.base + "/odata/?lang=de#/Odd")
	b.signIn(password)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	amount, day := `input[aria-label="Filtern nach Amount"]`, `input[aria-label="Filtern nach Day"]`
	b.Fill(amount, "1.235,50")
	b.Wait(`document.querySelectorAll('tbody tr').length === 25 && location.hash === '#/Odd?amount.eq=1235.50'`)
	if got := browsertest.Eval[[]string](b.Tab, `[...new Set([...document.querySelectorAll('tbody tr')].map((r) => r.cells[4].innerText))]`); len(got) != 1 || got[0] != "1.235,50 EUR" {
		t.Errorf("the cells show %q", got)
	}
	b.Fill(amount, "1.235,50 EUR..2.000")
	b.Wait(`location.hash === '#/Odd?amount.ge=1235.50&amount.le=2000'`)
	b.Fill(day, "01.05.2026")
	b.Wait(`location.hash.endsWith('&day.eq=2026-05-01') && document.querySelectorAll('tbody tr').length === 5`)

	b.Fill(amount, "1.5")
	b.Wait(`document.querySelector('input[aria-label="Filtern nach Amount"]').getAttribute('aria-invalid') === 'true'`)
	b.See("Geben Sie eine Zahl ein, etwa 5, >5 oder 5..10.")
	b.See("Zeilen werden gezeigt, sobald der Filter zu lesen ist.")
	b.axe(source, "unread", false)
	b.Picture("explorer-unread-de")
	b.Visit(r.base + "/odata/?lang=en" + browsertest.Eval[string](b.Tab, `location.hash`))
	b.See("Type a number, such as 5, >5 or 5..10.")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('input[aria-label="Filter by Amount"]').value + document.querySelectorAll('tbody td:not(.none)').length + document.querySelector('.elsewhere')`); got != "1.50null" {
		t.Errorf("the address of what cannot be read shows %q", got)
	}

	// On a phone the field may be far to the side.
	b.Size(390, 640)
	b.Visit(r.base + "/odata/?lang=en#/Odd?~columns=*&day.eq=2026-05-01&clock=noon&nope=1")
	b.See("There is no such value.")
	b.Wait(`(() => {
		const at = document.querySelector('.wrong:not(:empty)').getBoundingClientRect(), box = document.querySelector('.table').getBoundingClientRect();
		const strip = document.querySelector('main .strip').getBoundingClientRect();
		return at.left >= box.left && at.right <= box.right && strip.top >= 0 && strip.bottom <= innerHeight;
	})()`)
	b.Size(1280, 900)

	// Addresses from before conditions mean what they meant, and say it.
	b.Visit(r.base + "/odata/?lang=de#/Odd?amount=%3E%3D1235.5&at=2026-05-01&customer_id=frank")
	b.Wait(`location.hash === '#/Odd?amount.ge=1235.5&at.ge=2026-05-01T00%3A00%3A00Z&at.lt=2026-05-02T00%3A00%3A00Z&customer_id.has=frank'`)
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('input[aria-label="Filtern nach At"]').value`); got != "01.05.2026, 02:00..02.05.2026, 01:59" {
		t.Errorf("a day of UTC stands as %q", got)
	}
	for address, words := range map[string]string{
		"nope=1":              "This view names a column that does not exist: nope.",
		"~group=nope":         "This view names a column that does not exist: nope.",
		"~sort=nope+desc":     "This view names a column that does not exist: nope.",
		"big=12,000":          "Type a number",
		"big.ge=5+or+1+eq+1":  "Type a number",
		"amount.ge=1e3":       "Type a number",
		"day=2026-02-30":      "Type a day",
		"clock=noon":          "There is no such value.",
		`note="no+end`:        `Close the text with ".`,
		"~group=note&big=abc": "Big: Type a number, such as 5, >5 or 5..10. (abc)",
	} {
		b.Visit(r.base + "/odata/?lang=en#/Odd?" + address)
		b.See(words)
		b.See("No rows are shown until the filter can be read.")
		if n := browsertest.Eval[int](b.Tab, `document.querySelectorAll('tbody td:not(.none)').length`); n != 0 {
			t.Errorf("%s shows %d cells", address, n)
		}
	}
	b.Visit(r.base + "/odata/?lang=en#/Odd?nope=1&big=0")
	b.Click(`.strip a`)
	b.Wait(`location.hash === '#/Odd?big.eq=0' && document.querySelectorAll('tbody tr').length === 30`)
}

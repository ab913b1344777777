package uitest

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newLarge starts the real binary with a set of 1,234 rows and one that takes minutes.
func newLarge(t *testing.T) *real {
	t.Helper()
	return newRealWith(t, "", `
odata {
  limits {
    timeout = "5m"
  }
  entity_set "Many" {
    table = "many"
    list  = ["name", "price", "maker_id"]
    property "price" {
      currency = "'EUR'"
    }
  }
  entity_set "Makers" {
    table = "makers"
  }
  entity_set "Slow" {
    table = "slow"
    key   = ["id"]
  }
}
`, `partner_id INTEGER DEFAULT 7;
		CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
		CREATE TABLE many (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price DECIMAL(10, 2) NOT NULL, maker_id INTEGER REFERENCES makers (id), weight INTEGER, made_on DATE);
		INSERT INTO makers VALUES (1, 'Ash'), (2, 'Birch');
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234)
		INSERT INTO many SELECT i, 'Row ' || i, i + 0.5, 1 + i % 2, i % 7, '2026-01-01' FROM n;
		CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT i AS id, i % 3 AS third FROM n`)
}

// Downloads have all rows, and the button has their number.
func TestExplorerDownload(t *testing.T) {
	r := newLarge(t)
	b := open(t)
	b.Visit(r.base + "/odata/#/Many")
	b.signIn(password)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	for address, want := range map[string]struct {
		words string
		rows  int
	}{
		"#/Many":                          {"Download 1,234 rows as CSV", 1234},
		"#/Many?maker_id.is=1&price.lt=3": {"Download 1 row as CSV", 1},
		"#/Many?~group=weight":            {"Download 7 rows as CSV", 7},
	} {
		b.Visit(r.base + "/odata/?lang=en" + address)
		b.Click(`.elsewhere button`)
		b.Wait(fmt.Sprintf(`document.querySelector('dialog a')?.textContent === %q`, want.words))
		file := browsertest.Eval[string](b.Tab, `fetch(document.querySelector('dialog a').href).then((r) => r.text())`)
		if rows, err := csv.NewReader(strings.NewReader(file)).ReadAll(); err != nil || len(rows) != want.rows+1 {
			t.Errorf("%s: the file has %d lines, %v", address, len(rows), err)
		}
	}
}

// The page shows after a moment that it waits, and a button stops the request. A stopped
// page has a button to try again, and neither "No rows" nor an error.
func TestExplorerWaits(t *testing.T) {
	source := needAxe(t)
	r := newLarge(t)
	b := open(t)
	b.Visit(r.base + "/odata/?lang=en#/Slow?~group=third")
	b.signIn(password)
	b.Wait(`document.querySelector('.waiting')?.innerText.includes('One moment')`)
	b.Wait(`document.querySelector('[role=status]').textContent.includes('One moment')`)
	b.Picture("explorer-waiting")
	b.axe(source, "waiting", false)
	b.Click(`.waiting button`)
	b.See("Stopped.")
	b.Focused(`.strip button`)
	if text := b.Text("main"); strings.Contains(text, "No rows") || strings.Contains(text, "One moment") {
		t.Errorf("a stopped page says:\n%s", text)
	}
	b.Press(kb.Enter) // try again
	b.Wait(`document.querySelector('.waiting')?.innerText.includes('One moment')`)
	b.Click(`nav.sets a[href="#/Makers"]`)
	b.Wait(`document.querySelectorAll('tbody tr').length === 2 && document.querySelector('.waiting').textContent === ''`)

	// A host that is away, and a session that is over, are no empty table.
	r.command("", "session", "revoke", "--email", person)
	browsertest.Eval[any](b.Tab, `location.hash = '#/Many'`)
	b.See("You are not signed in, or your session has ended.")
	if text := b.Text("main"); strings.Contains(text, "No rows") {
		t.Errorf("without a session the page says:\n%s", text)
	}
	browsertest.Eval[any](b.Tab, `window.fetch = () => Promise.reject(new TypeError('no network')); location.hash = '#/Makers'`)
	b.Wait(`document.querySelector('.strip')?.innerText.includes('reach')`)
	if text := b.Text("main"); strings.Contains(text, "No rows") {
		t.Errorf("without a host the page says:\n%s", text)
	}
}

// Back from a row is where one was: the page and the table as far as they were
// scrolled, and the focus at the link that was followed.
func TestExplorerBack(t *testing.T) {
	r := newLarge(t)
	b := open(t)
	b.Size(1280, 500)
	b.Visit(r.base + "/odata/?lang=en#/Many?~skip=100")
	b.signIn(password)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	browsertest.Eval[any](b.Tab, `document.querySelector('.table').scrollTop = 700; window.scrollTo(0, 60)`)
	b.Click(`a[href="#/Many(130)"]`)
	b.Wait(`document.querySelector('h1')?.textContent === 'Row 130'`)
	b.Focused(`h1`)
	browsertest.Eval[any](b.Tab, `history.back()`)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	b.Focused(`a[href="#/Many(130)"]`)
	b.Wait(`document.querySelector('.table').scrollTop === 700 && window.scrollY === 60`)
	browsertest.Eval[any](b.Tab, `history.forward()`)
	b.Wait(`document.querySelector('h1')?.textContent === 'Row 130'`)
	browsertest.Eval[any](b.Tab, `history.back()`)
	b.Focused(`a[href="#/Many(130)"]`)
	b.Wait(`document.querySelector('.table').scrollTop === 700`)
	// Another page of rows begins at its top.
	browsertest.Eval[any](b.Tab, `document.querySelector('.below nav a:last-child').click()`)
	b.Wait(`location.hash.endsWith('skip=150') && document.querySelector('tbody tr')?.innerText.includes('Row 151') && document.querySelector('.table').scrollTop === 0`)
	// What was typed narrows down and is a page of its own for Back.
	b.Fill(`input[aria-label="Filter by Name"]`, "Row 7")
	b.Wait(`location.hash === '#/Many?name.has=Row+7' && document.querySelector('tbody tr')?.innerText.includes('Row 7')`)
}

// A table has the columns that annotations list, the currency of its numbers, a heading
// that stays, and one stop of the Tab key for each row.
func TestExplorerTable(t *testing.T) {
	r := newLarge(t)
	b := open(t)
	b.Visit(r.base + "/odata/?lang=en#/Many")
	b.signIn(password)
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	heads := func() string {
		return browsertest.Eval[string](b.Tab, `[...document.querySelectorAll('thead th')].map((th) => th.innerText.trim()).join()`)
	}
	if got := heads(); got != "Name,Price,Maker" {
		t.Errorf("the columns are %s", got)
	}
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('tbody tr').cells[1].innerText`); got != "1.50 EUR" {
		t.Errorf("a price is %q", got)
	}
	stops := browsertest.Eval[int](b.Tab, `[...document.querySelectorAll('tbody tr')].filter((r) => [...r.querySelectorAll('a')].filter((a) => a.tabIndex === 0).length !== 1).length`)
	if stops != 0 {
		t.Errorf("%d rows have another number of tab stops than one", stops)
	}
	browsertest.Eval[any](b.Tab, `document.querySelector('tbody a').focus()`)
	b.Press(kb.ArrowRight)
	b.Focused(`a[href="#/Many(1)/maker"]`)
	b.Press(kb.ArrowLeft)
	b.Focused(`a[href="#/Many(1)"]`)
	browsertest.Eval[any](b.Tab, `document.querySelector('.table').scrollTop = 600`)
	if at := browsertest.Eval[float64](b.Tab, `document.querySelector('thead').getBoundingClientRect().top - document.querySelector('.table').getBoundingClientRect().top`); at > 2 {
		t.Errorf("the heading is %.0f px below the top of a scrolled table", at)
	}
	if high := browsertest.Eval[float64](b.Tab, `document.querySelector('tbody tr').getBoundingClientRect().height`); high > 32 {
		t.Errorf("a row is %.0f px high", high)
	}
	// Who goes up by keyboard sees the focus: the heading does not cover it.
	browsertest.Eval[any](b.Tab, `[...document.querySelectorAll('tbody tr')].at(30).querySelector('a').focus()`)
	for range 26 {
		b.Do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(kb.ModifierShift)))
		if covered := browsertest.Eval[string](b.Tab, `(() => {
			const link = document.activeElement, box = link.getBoundingClientRect();
			return link.closest('tbody') !== null && box.top >= document.querySelector('thead').getBoundingClientRect().bottom ? '' : link.outerHTML;
		})()`); covered != "" {
			t.Errorf("the heading covers the focus at %s", covered)
		}
	}
	b.Media("dark")
	b.Picture("explorer-table-dark")
	b.Visit(r.base + "/odata/?lang=de#/Many(1)")
	b.Wait(`document.querySelector('h1')?.textContent === 'Row 1'`)
	b.Picture("explorer-row-dark-de")
	b.Visit(r.base + "/odata/?lang=en#/Many?weight.eq=3")
	b.Wait(`document.querySelectorAll('tbody tr').length === 50`)
	if got := heads(); got != "Name,Price,Maker,Weight" {
		t.Errorf("narrowed down by weight, the columns are %s", got)
	}
	b.Visit(r.base + "/odata/?lang=en#/Many?~all=1") // an older address
	b.Wait(`location.hash.includes('columns=*') && document.querySelectorAll('thead th').length === 6`)
	home := browsertest.Eval[[]string](b.Tab, `[document.querySelector('.home').getAttribute('aria-label'), document.querySelector('.home img, .home p').alt ?? document.querySelector('.home p').textContent]`)
	if !strings.Contains(home[0], home[1]) || home[1] == "" {
		t.Errorf("the home link shows %q and is called %q", home[1], home[0])
	}
}

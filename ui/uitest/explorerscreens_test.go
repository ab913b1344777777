package uitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A view is a page or a dialog of the explorer that people see.
type view struct {
	name string
	// hash is the address within the page.
	hash string
	// press is the button that opens the dialog, as the English and the German page call it.
	press [2]string
	// act is done then, and until is true when the view is there.
	act   func(b *tab)
	until string
}

// newViews starts the real binary with all that the explorer can show.
func newViews(t *testing.T) *real {
	t.Helper()
	return newRealWith(t, "", `
odata {
  entity_set "Products" {
    table  = "products"
    search = ["name"]
    property "price" {
      currency = "'EUR'"
    }
    write {
      create  = true
      update  = true
      delete  = true
      version = "version"
    }
  }
  entity_set "Makers" {
    table = "makers"
  }
}
`, `partner_id INTEGER DEFAULT 7;
		CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
		CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, maker_id INTEGER NOT NULL REFERENCES makers (id), price DECIMAL(10, 2) NOT NULL,
			weight INTEGER, note TEXT, sold BOOLEAN NOT NULL DEFAULT FALSE, made_on DATE, seen_at TIMESTAMP, version INTEGER NOT NULL DEFAULT 1);
		INSERT INTO makers VALUES (1, 'Donaudampfschifffahrtsgesellschaft', 'Passau'), (2, 'Birch & sons', ''), (3, 'Ash', NULL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 61)
		INSERT INTO products (id, name, maker_id, price, weight, note, sold, made_on, seen_at)
		SELECT i, 'Product ' || i, 1 + i % 3, i * 10.5, CASE WHEN i % 5 > 0 THEN i % 7 END, CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN 'A remark that is rather long, so that a narrow page has to break or cut it somewhere' END,
			i % 2, '2026-0' || (1 + i % 9) || '-15', '2026-0' || (1 + i % 9) || '-15T10:30:00Z' FROM n`)
}

func views() []view {
	// Few rows, since axe takes its time for each.
	const few, dialog = "#/Products?id.le=9", `document.querySelector('dialog[open]')`
	fill := func(name, value string) func(b *tab) {
		return func(b *tab) {
			b.Wait(fmt.Sprintf(`document.querySelector('#field-%s')`, name))
			b.Fill("#field-"+name, value)
		}
	}
	openFacets := func(b *tab) {
		b.Wait(`document.querySelector('.facets [data-column=sold]')`)
		browsertest.Eval[any](b.Tab, `for (const name of ['maker_id', 'sold', 'note']) document.querySelector('.facets [data-column=' + name + ']').open = true`)
	}
	return []view{
		{name: "home", until: `[...document.querySelectorAll('main .sets li')].every((li) => /\d (rows|Zeilen)/.test(li.innerText))`},
		{name: "table", hash: "#/Products", until: `document.querySelectorAll('tbody tr').length === 50 && /61/.test(document.querySelector('.below .hint').innerText)`},
		{name: "help", hash: few, act: func(b *tab) {
			b.Click(".help summary")
		}, until: `document.querySelectorAll('.help li').length === 4`},
		{name: "none", hash: "#/Products?name.eq=nothing", until: `document.querySelector('tbody td[colspan]')?.innerText`},
		{name: "unread", hash: "#/Products?price=cheap&nope.is=1", until: `document.querySelector('main .strip')`},
		{name: "filters", hash: "#/Products?name.has=product&price.ge=50&price.le=600&weight.null=&maker_id.is=1&sold.eq=true&~total=sum", until: `document.querySelectorAll('.chips button').length > 5 && document.querySelector('tfoot')?.innerText.trim()`},
		{name: "facets", hash: few, press: [2]string{"Values", "Werte"}, act: openFacets, until: `document.querySelectorAll('.facets .facet').length > 6 && !document.querySelector('.facets [aria-busy]')`},
		{name: "groups", hash: "#/Products?~group=maker_id,sold", until: `document.querySelectorAll('tbody tr').length === 6`},
		{name: "chart", hash: "#/Products?~group=made_on.month&~chart=price", until: `document.querySelectorAll('.chart li').length === 9`},
		{name: "row", hash: "#/Products(5)", until: `document.querySelector('h1').textContent === 'Product 5'`},
		{name: "related", hash: "#/Makers(1)", until: `/\d (rows|Zeilen)/.test(document.querySelector('section .sets').innerText)`},
		{name: "missing", hash: "#/Nothing", until: `document.querySelector('main .strip')`},
		{name: "columns", hash: few, press: [2]string{"Columns", "Spalten"}, until: dialog},
		{name: "export", hash: "#/Products?maker_id.is=1", press: [2]string{"Export and API", "Export und API"}, until: `/\d/.test(document.querySelector('dialog a')?.textContent)`},
		{name: "create", hash: few, press: [2]string{"New row", "Neue Zeile"}, act: func(b *tab) {
			fill("price", "cheap")(b)
			b.Click("dialog .main")
		}, until: `document.querySelector('dialog [aria-invalid]')`},
		{name: "change", hash: "#/Products(7)", press: [2]string{"Change", "Ändern"}, until: dialog},
		{name: "delete", hash: "#/Products(8)", press: [2]string{"Delete", "Löschen"}, until: dialog},
	}
}

// Every page and dialog of the explorer in every look and language: axe finds nothing,
// nothing is cut off, nothing but the table scrolls sideways.
func TestExplorerScreens(t *testing.T) {
	source := needAxe(t)
	r := newViews(t)
	for i, lang := range []string{"en", "de"} {
		b := explored(t, r, "?lang="+lang)
		for _, v := range views() {
			b.open(r, lang, i, v)
			for _, l := range looksIn(lang) {
				b.show(source, lang, v.name, l)
			}
		}
		b.conflict(r, i)
		for _, l := range looksIn(lang) {
			b.show(source, lang, "conflict", l)
		}
	}
}

// open opens a view and waits until it is there.
func (b *tab) open(r *real, lang string, i int, v view) {
	b.T.Helper()
	b.Size(1280, 900)
	b.Media("light") // a page that is opened in forced colours keeps their background afterwards
	b.Visit(r.base + "/odata/?lang=" + lang + "&view=" + v.name + v.hash)
	b.Wait(`document.querySelector('main h1') && document.querySelector('.waiting')?.textContent === ''`)
	if words := v.press[i]; words != "" {
		b.Wait(fmt.Sprintf(`[...document.querySelectorAll('main button')].find((x) => x.textContent === %q)`, words))
		browsertest.Eval[any](b.Tab, fmt.Sprintf(`[...document.querySelectorAll('main button')].find((x) => x.textContent === %q).click()`, words))
	}
	if v.act != nil {
		v.act(b)
	}
	b.Wait(v.until)
}

// conflict changes a row that somebody else has changed meanwhile.
func (b *tab) conflict(r *real, i int) {
	b.T.Helper()
	id := 20 + i
	b.open(r, []string{"en", "de"}[i], i, view{name: "conflict", hash: fmt.Sprintf("#/Products(%d)", id), press: [2]string{"Change", "Ändern"}, until: `document.querySelector('#field-weight')`})
	b.Fill("#field-weight", "3")
	r.rows(fmt.Sprintf(`UPDATE products SET name = 'Another name', weight = 9, version = version + 1 WHERE id = %d RETURNING id`, id))
	b.Click("dialog .main")
	b.Wait(`document.querySelector('.theirs:not(:empty)')`)
}

// show looks at a view in one look.
func (b *tab) show(axe, lang, name string, l look) {
	b.T.Helper()
	name = "explorer-" + name + "." + lang + "." + l.name
	b.Size(l.width, l.height)
	b.Media(l.scheme, l.more...)
	b.axe(axe, name, l.whole)
	for _, f := range browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`(() => {
		const out = [];
		const root = document.documentElement;
		if (root.lang !== %q) out.push('lang is ' + root.lang);
		if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
		if (root.scrollWidth > innerWidth) out.push('scrolls sideways: ' + root.scrollWidth + ' > ' + innerWidth);
		for (const box of document.querySelectorAll('dialog, .facets')) {
			if (box.scrollWidth > box.clientWidth + 1) out.push('scrolls sideways: ' + box.scrollWidth + ' > ' + box.clientWidth + ': ' + box.tagName);
		}
		for (const el of document.querySelectorAll('h1, h2, h3, p, label, legend, a, button, li, dt, dd, input, select, textarea')) {
			if (!el.checkVisibility() || el.closest('.sr-only, .skip, .table')) continue;
			const box = el.getBoundingClientRect();
			if (box.right > innerWidth + 0.5 || box.left < -0.5) out.push('cut off: ' + el.outerHTML.slice(0, 90));
			if (el.matches('a, button, label, h1, h2, h3') && el.scrollWidth > el.clientWidth + 1 && getComputedStyle(el).overflow !== 'visible') out.push('text cut: ' + el.textContent);
			if (el.matches('button, select, input:not([type=checkbox], [type=radio])') && (box.height < 24 || box.width < 24)) out.push('small target: ' + el.outerHTML.slice(0, 90));
		}
		for (const text of document.querySelectorAll('.strip > .icon + div')) {
			if (text.getBoundingClientRect().left < text.previousSibling.getBoundingClientRect().right) out.push('a message below its sign: ' + text.textContent);
		}
		const none = document.querySelector('.none span')?.getBoundingClientRect();
		if (none && (none.left < 0 || none.right > innerWidth)) out.push('cut off: the text of an empty table');
		return out;
	})()`, lang)) {
		b.T.Errorf("%s: %s", name, f)
	}
	if strings.Contains(l.name, "zoom") || browsertest.Eval[bool](b.Tab, `document.querySelector('dialog[open]') !== null`) {
		b.Picture(name)
		return
	}
	b.PictureOfAll(name)
}

package uitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newWritten starts the real binary with reviews that people may write.
func newWritten(t *testing.T) *real {
	t.Helper()
	return newRealWith(t, "", `
odata {
  entity_set "Products" {
    table = "products"
  }
  entity_set "Reviews" {
    table = "reviews"
    hide  = ["version"]
    property "text" {
      format = "multiline"
    }
    property "price" {
      currency = "'EUR'"
    }
    write {
      create  = true
      update  = true
      delete  = true
      fixed   = ["product_id"]
      version = "version"
    }
  }
}
`, `partner_id INTEGER DEFAULT 7;
		CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
		CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id), title TEXT NOT NULL, text TEXT,
			rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5), price DECIMAL(10, 2), bought_on DATE, version INTEGER NOT NULL DEFAULT 1);
		INSERT INTO products VALUES (1, 'Tent'), (2, 'Stove');
		INSERT INTO reviews (id, product_id, title, rating) VALUES (1, 1, 'Fine', 4)`)
}

// A row is created, changed and deleted in a form of the annotations. After a 412 the form
// shows the values of the other person beside those that were typed.
func TestExplorerForm(t *testing.T) {
	source := needAxe(t)
	r := newWritten(t)
	b := explored(t, r, "?lang=en#/Products")
	b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
	button := func(words string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('main button')].find((x) => x.textContent === %q)`, words)
	}
	if browsertest.Eval[bool](b.Tab, button("New row")+` !== undefined`) {
		t.Error("a set that nobody may write has a button for a new row")
	}
	b.Visit(r.base + "/odata/?lang=en#/Reviews")
	b.Wait(`document.querySelectorAll('tbody tr').length === 1`)
	browsertest.Eval[any](b.Tab, button("New row")+`.focus()`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector('dialog[open]') !== null`)
	b.axe(source, "a form", true)
	b.Wait(`document.querySelector('[for=field-price]').textContent === 'Price (EUR)'`)
	b.pick(`#field-product_id`, "2")
	b.Fill(`#field-title`, "Light")
	b.Fill(`#field-rating`, "nine")
	b.Click(`dialog .main`)
	b.See("This is no value for this field.")
	b.Focused(`#field-rating`)
	b.Fill(`#field-rating`, "9")
	b.Click(`dialog .main`)
	b.Wait(`document.querySelector('dialog .strip') !== null`)
	b.Fill(`#field-rating`, "5")
	b.Fill(`#field-price`, "1,234.50")
	b.Picture("explorer-form")
	b.Click(`dialog .main`)
	b.Wait(`document.querySelector('dialog') === null && document.querySelector('h1')?.textContent === 'Light'`)
	if got := r.rows(`SELECT product_id || ' ' || title || ' ' || rating || ' ' || price FROM reviews WHERE id <> 1`); strings.Join(got, ",") != "2 Light 5 1234.5" {
		t.Errorf("the new row is %q", got)
	}

	// Somebody else changes the title and the rating meanwhile; this person the rating and the text.
	b.Visit(r.base + "/odata/?lang=en#/Reviews(1)")
	b.Wait(`document.querySelector('h1')?.textContent === 'Fine'`)
	browsertest.Eval[any](b.Tab, button("Change")+`.click()`)
	b.Wait(`document.querySelector('dialog[open]') !== null`)
	if browsertest.Eval[bool](b.Tab, `document.querySelector('#field-product_id') !== null`) {
		t.Error("the form of a change has a column that is fixed")
	}
	b.Fill(`#field-rating`, "2")
	b.Fill(`#field-text`, "It leaks.")
	r.rows(`UPDATE reviews SET title = 'Fine tent', rating = 5, version = version + 1 WHERE id = 1 RETURNING id`)
	b.Click(`dialog .main`)
	b.See("Somebody else has changed this row.")
	b.Wait(`document.querySelector('.theirs:not(:empty)').innerText.includes('Now there: 5') && document.querySelector('#field-rating').value === '2' && document.querySelector('#field-title').value === 'Fine tent'`)
	b.Focused(`#field-rating`)
	if got := b.Text("dialog h2"); got != "Change: Fine" {
		t.Errorf("the form is called %q", got)
	}
	b.axe(source, "a conflict", true)
	b.Media("dark")
	b.Picture("explorer-conflict-dark")
	b.Click(`dialog .main`)
	b.Wait(`document.querySelector('dialog') === null && document.querySelector('h1')?.textContent === 'Fine tent'`)
	if got := r.rows(`SELECT title || ' ' || rating || ' ' || text FROM reviews WHERE id = 1`); strings.Join(got, ",") != "Fine tent 2 It leaks." {
		t.Errorf("after the conflict the row is %q", got)
	}

	// A row that has changed is not deleted unseen.
	b.Visit(r.base + "/odata/?lang=de#/Reviews(1)")
	b.Wait(`document.querySelector('h1')?.textContent === 'Fine tent'`)
	browsertest.Eval[any](b.Tab, button("Löschen")+`.click()`)
	b.Wait(`document.querySelector('dialog[open]') !== null`)
	b.Focused(`dialog .actions button[type=button]`) // a second Enter deletes nothing
	r.rows(`UPDATE reviews SET title = 'Best tent', version = version + 1 WHERE id = 1 RETURNING id`)
	b.Click(`dialog .main`)
	b.See("aus Fine tent wurde Best tent")
	b.axe(source, "a conflict of a deletion, dark, German", false)
	b.Picture("explorer-delete-dark-de")
	b.Click(`dialog .main`)
	b.Wait(`document.querySelector('dialog') === null && location.hash === '#/Reviews' && document.querySelectorAll('tbody tr').length === 1`)
	if got := r.rows(`SELECT count(*) FROM reviews WHERE id = 1`)[0]; got != "0" {
		t.Error("the row is still there")
	}
}

// A set that links to nothing is asked for the same address by the page and by the form, in formats with and without the entity
// tag: the form gets its own. Who changes one field leaves the others as they are.
func TestExplorerFormWithoutLinks(t *testing.T) {
	r := newRealWith(t, "", `
odata {
  entity_set "Notes" {
    table = "notes"
    write {
      update = true
    }
  }
}
`, `partner_id INTEGER DEFAULT 7;
		CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, done_at DATETIME, rating INTEGER);
		INSERT INTO notes VALUES (1, 'Two' || char(10) || 'lines', '2026-05-01 10:00:00', 4)`)
	b := explored(t, r, "?lang=en#/Notes")
	b.Visit(r.base + "/odata/?lang=en#/Notes(1)")
	change := `[...document.querySelectorAll('main button')].find((x) => x.textContent === 'Change')`
	b.Wait(change + ` !== undefined`)
	browsertest.Eval[any](b.Tab, change+`.click()`)
	b.Wait(`document.querySelector('dialog[open]') !== null`)
	b.Fill(`#field-rating`, "5")
	b.Click(`dialog .main`)
	b.Wait(`document.querySelector('dialog') === null`)
	if got := r.rows(`SELECT hex(title) || ' ' || done_at || ' ' || rating FROM notes`)[0]; got != "54776F0A6C696E6573 2026-05-01 10:00:00 5" {
		t.Errorf("the row is %q", got)
	}
}

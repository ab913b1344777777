package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newCareless starts the real binary with notes that people may write, and tags whose key is binary.
func newCareless(t *testing.T) *real {
	t.Helper()
	return newRealWith(t, "", `
odata {
  entity_set "Notes" {
    table  = "notes"
    search = ["title"]
    hide   = ["version"]
    write {
      create  = true
      update  = true
      version = "version"
    }
  }
  entity_set "Tags" {
    table = "tags"
  }
}
`, `partner_id INTEGER DEFAULT 7;
		CREATE TABLE tags (id BLOB PRIMARY KEY, name TEXT NOT NULL);
		INSERT INTO tags VALUES (x'fbff', 'Red'), (x'00ff10', 'Blue');
		CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, tag_id BLOB REFERENCES tags (id), seen_at DATETIME, version INTEGER NOT NULL DEFAULT 1);
		INSERT INTO notes (id, title, body, tag_id, seen_at) VALUES (1, 'First', 'one' || char(10) || 'two', x'fbff', '2026-10-25 01:30:00.25'), (2, 'Second', 'one' || char(13, 10) || 'two', x'fbff', NULL), (3, 'Third', NULL, x'00ff10', NULL)`)
}

// press is the script that clicks a button as often as it says, at once.
const press = `window.press = (words, times = 1) => {
	const button = [...document.querySelectorAll('main button, dialog button')].find((b) => b.textContent === words);
	for (let i = 0; i < times; i++) button.click();
}; null`

// A double click opens one dialog and makes one row. A change sends the fields that somebody changed, and no others: the browser's
// fields rewrite the ends of lines and drop fractions of seconds. Esc asks before it discards what was typed.
func TestExplorerFormCareless(t *testing.T) {
	r := newCareless(t)
	b := explored(t, r, "?lang=en#/Notes")
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	browsertest.Eval[any](b.Tab, press)
	for _, words := range []string{"Columns", "Export and API", "New row"} {
		browsertest.Eval[any](b.Tab, `press('`+words+`', 2)`)
		b.Wait(`document.querySelector('dialog[open]') !== null`)
		browsertest.Eval[any](b.Tab, `new Promise((ok) => setTimeout(ok, 300))`)
		if n := browsertest.Eval[int](b.Tab, `document.querySelectorAll('dialog').length`); n != 1 {
			t.Errorf("a double click on %q opens %d dialogs", words, n)
		}
		if words != "New row" {
			browsertest.Eval[any](b.Tab, `document.querySelectorAll('dialog').forEach((d) => d.close())`)
			b.Wait(`document.querySelector('dialog') === null`)
		}
	}
	b.Fill(`#field-title`, "Once")
	browsertest.Eval[any](b.Tab, `press('Create', 2)`)
	b.Wait(`document.querySelector('dialog') === null && document.querySelector('h1').textContent === 'Once'`)
	if got := r.rows(`SELECT count(*) FROM notes WHERE title = 'Once'`)[0]; got != "1" {
		t.Errorf("a double click makes %s rows", got)
	}

	for _, id := range []string{"1", "2"} {
		before := r.rows(`SELECT hex(body) || ' ' || coalesce(seen_at, '') FROM notes WHERE id = ` + id)[0]
		b.Visit(r.base + "/odata/?lang=en#/Notes(" + id + ")")
		b.Wait(`document.querySelector('dl') !== null`)
		browsertest.Eval[any](b.Tab, press+`; press('Change')`)
		b.Wait(`document.querySelector('dialog[open] #field-body') !== null`)
		b.Fill(`#field-title`, "Changed")
		browsertest.Eval[any](b.Tab, `press('Save')`)
		b.Wait(`document.querySelector('dialog') === null && document.querySelector('h1').textContent === 'Changed'`)
		if got := r.rows(`SELECT hex(body) || ' ' || coalesce(seen_at, '') FROM notes WHERE id = ` + id)[0]; got != before {
			t.Errorf("a change of the title made %q of %q", got, before)
		}
	}

	browsertest.Eval[any](b.Tab, `window.asked = []; window.confirm = (text) => { asked.push(text); return asked.length > 1 }; press('Change')`)
	b.Wait(`document.querySelector('dialog[open] #field-title') !== null`)
	b.Fill(`#field-title`, "Not saved")
	b.Press(kb.Escape)
	b.Wait(`asked.length === 1`)
	b.Focused(`dialog[open] #field-title`)
	b.Fill(`#field-title`, "Not saved either")
	b.Press(kb.Escape)
	b.Wait(`document.querySelector('dialog') === null`)
	if got := browsertest.Eval[[]string](b.Tab, `asked`); strings.Join(got, "|") != "Discard what you typed?|Discard what you typed?" {
		t.Errorf("Esc asks %q", got)
	}
}

// What is typed belongs to the page on which it was typed: Back to another one drops it, and Back to another state of the
// page shows that state in the fields, whichever has the focus.
func TestExplorerTypedAndBack(t *testing.T) {
	r := newCareless(t)
	b := explored(t, r, "?lang=en#/Tags")
	b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
	typed := `window.typed = (label, text) => {
		const field = document.querySelector('[aria-label="' + label + '"]');
		field.focus();
		field.value = text;
		field.dispatchEvent(new Event('input'));
	}; null`
	browsertest.Eval[any](b.Tab, typed)
	for _, label := range []string{"Search", "Filter by Title"} {
		b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
		browsertest.Eval[any](b.Tab, `location.hash = '#/Notes'; null`)
		b.Wait(`document.querySelectorAll('tbody tr').length === 3 && document.querySelector('[aria-label="` + label + `"]')`)
		browsertest.Eval[any](b.Tab, `typed('`+label+`', 'third'); history.back(); null`)
		b.Wait(`document.querySelector('h1').textContent === 'Tags'`)
		browsertest.Eval[any](b.Tab, `new Promise((ok) => setTimeout(ok, 500))`)
		if got := browsertest.Eval[string](b.Tab, `location.hash + ' ' + document.querySelectorAll('tbody tr').length + ' ' + (document.querySelector('.strip')?.innerText ?? '')`); got != "#/Tags 2 " {
			t.Errorf("%s: Back leads to %q", label, got)
		}
		browsertest.Eval[any](b.Tab, `location.hash = '#/Notes'; null`)
		b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
		browsertest.Eval[any](b.Tab, `location.hash = '#/Notes?id.ge=2'; null`)
		b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
		browsertest.Eval[any](b.Tab, `typed('`+label+`', 'third')`)
		b.Wait(`document.querySelectorAll('tbody tr').length === 1`)
		browsertest.Eval[any](b.Tab, `history.back(); null`)
		b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
		if got := browsertest.Eval[string](b.Tab, `document.activeElement.value`); got != "" {
			t.Errorf("%s: after Back the field has %q, and the table all rows", label, got)
		}
		browsertest.Eval[any](b.Tab, `location.hash = '#/Tags'; null`)
	}
}

// A screen reader hears what the page says instead of rows, and nothing of the page before.
func TestExplorerSaysFaults(t *testing.T) {
	r := newCareless(t)
	b := explored(t, r, "?lang=en#/Notes")
	for _, c := range []struct{ hash, status, below string }{
		{"#/Notes(99)", "there is no such entity", ""},
		{"#/Notes?~group=nope", "This view names a column that does not exist: nope.", ""},
		{"#/Notes?id.ge=x", "Type a number", ""},
		{"#/Nope", "There is nothing at “Nope”.", ""},
		{"#/Notes?~skip=5000", "0 to 0 of 3", "0 to 0 of 3"},
	} {
		browsertest.Eval[any](b.Tab, `location.hash = '#/Notes'; null`)
		b.Wait(`document.querySelector('[role=status]').textContent === '1 to 3 of 3'`)
		browsertest.Eval[any](b.Tab, `location.hash = '`+c.hash+`'; null`)
		b.Wait(`document.querySelector('[role=status]').textContent.includes('` + c.status + `')`)
		if got := browsertest.Eval[string](b.Tab, `document.querySelector('.below .hint')?.textContent ?? ''`); got != c.below {
			t.Errorf("%s: below the table stands %q", c.hash, got)
		}
	}
	browsertest.Eval[any](b.Tab, `location.hash = '#/Notes(1)'; null`)
	b.Wait(`document.querySelector('dl') !== null && document.querySelector('[role=status]').textContent === ''`)
	for status, words := range map[string]string{"401": "your session has ended", "429": "The server is busy.", "503": "The server is busy."} {
		browsertest.Eval[any](b.Tab, `window.fetch = () => Promise.resolve(new Response('{}', { status: `+status+` })); location.hash = '#/Notes?id.ge=`+status+`'; null`)
		b.Wait(`document.querySelector('[role=status]').textContent.includes('` + words + `')`)
		b.See(words)
	}
}

// A row with a binary key has an address. The link of a group of such keys shows as many rows as the group counts.
func TestExplorerBinaryKeys(t *testing.T) {
	r := newCareless(t)
	b := explored(t, r, "?lang=en#/Tags")
	b.Wait(`document.querySelectorAll('tbody tr').length === 2`)
	b.Click(`tbody a`)
	b.Wait(`document.querySelector('dl') !== null && document.querySelector('h1').textContent === 'Blue'`)
	browsertest.Eval[any](b.Tab, walk)
	if got := b.followGroups("en", "", "Notes", "tag_id"); got != 2 {
		t.Errorf("%d groups", got)
	}
}

// Back to a page that the browser kept as it was loads it again: somebody may have signed out meanwhile.
func TestExplorerLoadsAgain(t *testing.T) {
	r := newCareless(t)
	b := explored(t, r, "?lang=en#/Notes")
	b.Wait(`document.querySelectorAll('tbody tr').length === 3`)
	r.command("", "session", "revoke", "--email", person)
	browsertest.Eval[any](b.Tab, `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); null`)
	b.At(r.base + "/login#/Notes")
}

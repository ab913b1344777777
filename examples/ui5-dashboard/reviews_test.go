package dashboard_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// reviewList is the page of the reviews, and reviewRows its table.
const (
	reviewList = "#fernweh-dashboard---reviews--"
	reviewRows = reviewList + "table-innerTable"
)

// The columns of the table of reviews.
const (
	productCell = iota
	ratingCell
	textCell
)

// sold finds reviews of products that are still sold, which are those that may be changed.
const sold = ` FROM reviews r JOIN products p ON p.id = r.product_id WHERE NOT p.discontinued AND r.id <= 20 ORDER BY r.id LIMIT 1`

// reviews are edited by two people, of whom the second one learns of the first one's change. A new one is written and
// deleted again, and what the service refuses is said at the field.
func reviews(t *testing.T, s *site) {
	s.person(t, "bo@example.com", "Bo Demo")
	id := number(t, s.one(t, `SELECT r.id`+sold))
	ada, bo := open(t, s, desk), open(t, s, desk)
	for b, email := range map[*tab]string{ada: seed.Email, bo: "bo@example.com"} {
		b.Do(chromedp.Navigate(s.url + "/dashboard/#/reviews"))
		b.signInAs(email)
		b.await(reviewList+"table-tableTitle", "Reviews (2,000)")
		b.rows(reviewRows, 20)
		b.grave()
		b.Quiet()
	}
	ada.editable(t)
	conflict(t, s, ada, bo, id)
	refused(t, s, ada, id)
	written(t, s, ada)
}

// editable compares what can be edited with the service's $metadata: product, author and time cannot.
func (b *tab) editable(t *testing.T) {
	t.Helper()
	got := browsertest.Eval[[]bool](b.Tab, `[...document.querySelectorAll('`+reviewRows+` tbody > tr.sapMLIB')][0]
		&& [...[...document.querySelectorAll('`+reviewRows+` tbody > tr.sapMLIB')][0].querySelectorAll(':scope > td.sapMListTblCell')].map((cell) => cell.querySelector('input, textarea') !== null)`)
	same(t, "cells that can be edited", got, []bool{false, true, true, false, false})
}

// conflict lets two people change one review, and the second one decide.
func conflict(t *testing.T, s *site, ada, bo *tab, id int) {
	t.Helper()
	author, before := s.review(t, id, "author"), s.review(t, id, "text")
	ada.edit(id, ratingCell, "2")
	bo.edit(id, textCell, "Bo was here.")
	ada.save("Saved.")
	same(t, "the change of the first one", s.review(t, id, "rating || ' ' || version"), "2 2")
	ada.sent(`If-Match:W/"1"`)

	bo.Click(reviewList + "save")
	bo.box("Changed by somebody else")
	bo.Picture("reviews.conflict")
	same(t, "the change of the second one", s.review(t, id, "text || version"), before+"2")
	bo.answer("Close")
	if got := bo.value(id, textCell); got != "Bo was here." {
		t.Errorf("what was typed is lost: %q", got)
	}
	bo.Click(reviewList + "save")
	bo.box("Changed by somebody else")
	bo.answer("Show what is there now")
	bo.Wait(fmt.Sprintf(`%s?.value === '2' && idle('%s')`, cell(id, ratingCell), reviewRows))
	bo.Forgive() // a refused change is an error to UI5
	bo.edit(id, textCell, "Bo was here.")
	bo.save("Saved.")
	same(t, "the next change of the second one", s.review(t, id, "text || version || author"), "Bo was here.3"+author)
	bo.Quiet()

	ada.edit(id, ratingCell, "5")
	ada.Click(reviewList + "discard")
	ada.Wait(cell(id, ratingCell) + `.value === '2'`)
	ada.Quiet()
}

// refused sees a fault of the service at the field that it is of.
func refused(t *testing.T, s *site, b *tab, id int) {
	t.Helper()
	browsertest.Eval[any](b.Tab, `location.reload(); null`)
	b.Wait(`window.rows`)
	b.rows(reviewRows, 20)
	b.edit(id, ratingCell, "9")
	b.save("Not saved. See the marked fields.")
	b.Wait(cell(id, ratingCell) + `.getAttribute('aria-invalid') === 'true'`)
	b.Picture("reviews.refused")
	same(t, "what was refused", s.review(t, id, "rating || ' ' || version"), "2 3")
	b.Forgive() // a refused change is an error to UI5
	b.edit(id, ratingCell, "4")
	b.save("Saved.")
	b.Wait(cell(id, ratingCell) + `.getAttribute('aria-invalid') !== 'true'`)
	same(t, "what was corrected", s.review(t, id, "rating || ' ' || version"), "4 4")
	b.Quiet()
}

// written adds a review, which the service signs with the name of its author, and deletes it again.
func written(t *testing.T, s *site, b *tab) {
	t.Helper()
	product := s.rows(t, `SELECT name, id FROM products WHERE NOT discontinued AND id > 10 ORDER BY id LIMIT 1`)[0]
	b.Click(reviewList + "create")
	b.await(reviewList+"table-tableTitle", "Reviews (2,001)")
	b.Wait(cellAt(0, productCell) + `.querySelector('input')`)
	b.editAt(0, productCell, product[1])
	b.editAt(0, ratingCell, "5")
	b.editAt(0, textCell, "Written in a browser.")
	b.save("Saved.")
	id := number(t, s.one(t, `SELECT max(id) FROM reviews`))
	same(t, "the new one", s.review(t, id, "product_id || ' ' || rating || ' ' || text || ' ' || author || ' ' || author_id || ' ' || version"),
		product[1]+" 5 Written in a browser. Ada Demo 1 1")
	b.Wait(fmt.Sprintf(`seen(%s).startsWith(%q)`, cellAt(0, productCell), product[0]))
	b.Picture("reviews.new")
	b.Click(reviewRows + ` tbody > tr.sapMLIB:nth-of-type(1) .sapMCb`)
	b.Click(reviewList + "delete")
	b.box("Confirmation")
	b.answer("Delete")
	b.await(reviewList+"table-tableTitle", "Reviews (2,000)")
	b.Wait(`idle('` + reviewRows + `')`)
	same(t, "after the deletion", s.one(t, `SELECT count(*) FROM reviews WHERE id = ?`, id), "0")
	b.sent("DELETE Reviews(" + fmt.Sprint(id) + ") HTTP/1.1")
	b.Quiet()
}

// person adds somebody with the password of the demo account.
func (s *site) person(t *testing.T, email, name string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), s.program, "user", "add", "--email", email, "--name", name, "--password-stdin",
		"-c", "config.hcl", "--set", "database.dsn="+s.path)
	command.Stdin = strings.NewReader(seed.Password)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// review reads a review from the database.
func (s *site) review(t *testing.T, id int, expression string) string {
	t.Helper()
	return s.one(t, `SELECT `+expression+` FROM reviews WHERE id = ?`, id)
}

// cellAt is the script that finds a cell in a row of the table.
func cellAt(row, column int) string {
	return fmt.Sprintf(`document.querySelectorAll('%s tbody > tr.sapMLIB')[%d].querySelectorAll(':scope > td.sapMListTblCell')[%d]`, reviewRows, row, column)
}

// cell is the script that finds the field of a review, whose id is the number of its row.
func cell(id, column int) string { return cellAt(id-1, column) + `.querySelector('input, textarea')` }

func (b *tab) value(id, column int) string {
	b.T.Helper()
	return browsertest.Eval[string](b.Tab, cell(id, column)+`.value`)
}

// edit types into the field of a review.
func (b *tab) edit(id, column int, text string) {
	b.T.Helper()
	b.editAt(id-1, column, text)
}

// editAt types into a field in a row, and leaves it.
func (b *tab) editAt(row, column int, text string) {
	b.T.Helper()
	field := cellAt(row, column) + `.querySelector('input, textarea')`
	b.Wait(field + ` && idle('` + reviewRows + `')`)
	browsertest.Eval[any](b.Tab, field+`.scrollIntoView({ block: 'center' }); null`)
	b.clickFound(field)
	browsertest.Eval[any](b.Tab, `document.activeElement.select(); null`)
	b.Fill(`[data-test=found]`, text)
	b.Click(reviewList + "heading")
}

// save presses the button, and waits for what is said then.
func (b *tab) save(said string) {
	b.T.Helper()
	b.saveOn(reviewList, said)
}

// saveOn is save on any page.
func (b *tab) saveOn(page, said string) {
	b.T.Helper()
	b.Click(page + "save")
	b.Wait(fmt.Sprintf(`[...document.querySelectorAll('.sapMMessageToast')].some((toast) => toast.textContent === %q)`, said))
	b.Wait(`document.querySelector('.sapMMessageToast') === null`)
}

// sent fails the test unless a batch so far had a line.
func (b *tab) sent(line string) {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.Contains(strings.Join(b.batches, "\n"), line) {
		b.T.Errorf("no batch had %q", line)
	}
}

package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeepPagesFromTheEnd holds that a page beyond the middle is looked for from the last row on where the total is known,
// and is the one of OFFSET; with a commit in between it is so, too.
func TestDeepPagesFromTheEnd(t *testing.T) {
	const rows = 2600
	w := openWalkers(t, rows, "", thingsOnly())
	fromEnd := func(target, order string) bool {
		w.ran.take()
		got := w.remember.get(target)
		ran := w.ran.take()
		if want := w.plain.get(target); got != want || strings.Contains(got, "fault") {
			t.Fatalf("%s\n got %s\nwant %s\n%s", target, got, want, strings.Join(ran, "\n"))
		}
		return len(ran) == 1 && strings.Contains(ran[0], "AS d ON") && strings.Contains(ran[0], order)
	}
	for _, c := range []struct{ order, backwards string }{
		{"c", `."c" DESC, `}, {"a", `."a" DESC NULLS LAST, `}, {"a desc,id desc", `."a" NULLS FIRST, `}, {"id", `."id" DESC LIMIT`},
	} {
		for _, skip := range []int{2400, 2580} {
			for _, query := range []string{"", "&$count=true", "&$filter=a ne 4 or a eq null", "&$select=c&$count=true&$filter=a ge 0"} {
				target := "things?$orderby=" + c.order + query
				last := fmt.Sprintf("%s&$top=50&$skip=%d", target, skip)
				w.compare(t, target+"&$skip=200") // leaves a place of this state, and not of one before
				w.compare(t, strings.Replace(target, "&$count=true", "", 1)+"&$count=true&$top=1")
				if got, want := fromEnd(last, c.backwards), !strings.Contains(query, "filter"); want && !got {
					t.Errorf("%s is looked for from the front", last)
				}
				if skip == 2400 {
					w.db.MustExec(`UPDATE things SET c = 2.99 WHERE id = (SELECT max(id) FROM things WHERE c < 2)`)
					if fromEnd(last, c.backwards) {
						t.Errorf("%s relies on an old total", last)
					}
				}
			}
		}
	}
}

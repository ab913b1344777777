package sqlsource_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A text that is too long for the index of its column does not fit the column.
func TestTextsTooLongForTheirIndex(t *testing.T) {
	t.Parallel()
	db := databaseWith(t, "postgres", "", "CREATE TABLE pages (id int PRIMARY KEY, slug text UNIQUE)")
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Pages", Table: "pages", Write: &sqlsource.Write{Create: true}}}})
	w := writer{t, s, tenant(1)}
	var slug strings.Builder
	for i := range 200 {
		fmt.Fprintf(&slug, "%x", sha256.Sum256([]byte{byte(i)})) // which compression cannot shorten enough
	}
	if got := w.write("POST Pages id=1,slug="+slug.String(), ""); got != "unfit" {
		t.Errorf("a text of %d characters: %s", slug.Len(), got)
	}
}

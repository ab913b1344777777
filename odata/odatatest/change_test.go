package odatatest_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestAnswersFollowTheData changes a database under a service that remembers
// answers: what another connection has committed is in the next answer.
func TestAnswersFollowTheData(t *testing.T) {
	t.Parallel()
	dsn := filepath.Join(t.TempDir(), "change.db")
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := odatatest.Fill(db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "sqlite", DSN: dsn}, odatatest.Mapping())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	service, err := odata.New(source.Model(), source, odata.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tag := ""
	for i := range 200 {
		name := fmt.Sprintf("name %d", i)
		if _, err := db.Exec("UPDATE things SET name = ? WHERE id = 1", name); err != nil {
			t.Fatal(err)
		}
		last := ""
		for range 3 { // the second answer is kept, the third may be a kept one
			r := httptest.NewRequest("GET", "/Things?$select=name&$top=1", nil)
			r.Header.Set("If-None-Match", tag)
			w := httptest.NewRecorder()
			service.ServeHTTP(w, r)
			if w.Code != 200 || !strings.Contains(w.Body.String(), `"`+name+`"`) {
				t.Fatalf("after change %d: %d %s", i, w.Code, w.Body)
			}
			last = w.Header().Get("ETag")
		}
		tag = last // which no later state may match
	}
}

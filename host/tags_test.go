package host_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// unversioned has rows that tell no version, so that tags are made of their bytes.
type unversioned struct{ rows *memory.Source }

func (u unversioned) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := u.rows.Open(ctx, p)
	return noVersion{rows}, err
}

type noVersion struct{ plan.Rows }

func (noVersion) Version() string { return "" }

// Hosts on one database give one tag to answers with equal bytes, which nobody can make who does not know its keys.
func TestHostsGiveOneTag(t *testing.T) {
	type Product struct{ ID int }
	rows, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Products", Rows: []Product{{1}, {2}}}}})
	if err != nil {
		t.Fatal(err)
	}
	db := sqliteStore(t)
	tag := func(db *store.DB) string {
		s := newSite(t, db, func(o *host.Options) {
			o.Server.PublicURL = &url.URL{Scheme: "http", Host: "app.example.com"} // of links in the answer
			o.OData = &host.ODataOptions{Model: rows.Model(), Source: unversioned{rows}}
		})
		return s.browser(t).get("/odata/Products").Header.Get("ETag")
	}
	one, two, other := tag(db), tag(db), tag(sqliteStore(t))
	if one == "" || one != two || one == other {
		t.Errorf("two hosts have the tags %s and %s, one on another database %s", one, two, other)
	}
}

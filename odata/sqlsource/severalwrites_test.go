package sqlsource_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

const severalDDL = `CREATE TABLE leaves (id BIGINT NOT NULL PRIMARY KEY, grp {BIG}, tree {BIG} REFERENCES trees(id));
CREATE TABLE nodes (id {BIG} NOT NULL PRIMARY KEY, grp {BIG}, above {BIG} REFERENCES nodes(id));
CREATE TABLE twins (id {BIG} NOT NULL PRIMARY KEY, grp {BIG});
CREATE TABLE t0 (id {BIG} NOT NULL PRIMARY KEY, grp {BIG}, tree {BIG});
CREATE VIEW seen AS SELECT id, grp FROM twins;
CREATE TABLE seers (id {BIG} NOT NULL PRIMARY KEY, grp {BIG});
INSERT INTO trees VALUES (1, 1), (2, 2)`

func severalConfig() sqlsource.Config {
	kin := sqlsource.Navigation{Name: "kin", To: "Twins", Many: true, On: map[string]string{"grp": "grp"}}
	seen := sqlsource.Navigation{Name: "kin", To: "Seen", Many: true, On: map[string]string{"grp": "grp"}}
	tree := []sqlsource.Navigation{{Name: "of", To: "Trees", On: map[string]string{"tree": "id"}}}
	set := func(name, table, filter string, navs ...sqlsource.Navigation) sqlsource.EntitySet {
		return sqlsource.EntitySet{Name: name, Table: table, Filter: filter, Navigations: navs, Write: &sqlsource.Write{Create: true}}
	}
	return sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Trees", Table: "trees", Filter: "tenant eq 1"},
		{Name: "Seen", Table: "seen", Key: []string{"id"}},
		set("Leaves", "leaves", "of/tenant eq 1", tree...), set("Nodes", "nodes", ""), set("Short", "t0", "of/tenant eq 1", tree...),
		set("Twins", "twins", "kin/any(k:k/id gt 0)", kin), set("Seers", "seers", "kin/any(k:k/id gt 0) or grp eq 1", seen),
	}}
}

// Several rows of one shape are added at once where that is the same as one after the other, and only there. A refusal names none.
func TestSeveralRowsAtOnce(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, ddlOf(dialect, "CREATE TABLE trees (id {BIG} NOT NULL PRIMARY KEY, tenant {BIG});\n"+severalDDL))
			w := writer{t, open(t, db, severalConfig()), tenant(1)}
			for _, c := range []struct {
				set     string
				ids     []int64
				n       int
				refused string
			}{
				{"Leaves", []int64{1}, 1, ""},
				{"Leaves", []int64{1, 2, 3, 4, 5}, 4, ""},
				{"Leaves", []int64{1, 2, 3}, 3, ""},
				{"Leaves", many(100), 96, ""},
				{"Leaves", many(300), 128, ""},
				{"Leaves", []int64{1, 1}, 0, "one of several"},
				{"Nodes", []int64{1, 2}, 1, ""},
				{"Twins", []int64{1, 2}, 1, ""},
				{"Seers", []int64{1, 2}, 1, ""},
				{"Short", []int64{1, 2}, 1, ""},
			} {
				n, err := w.several(c.set, c.ids)
				if refused := err != nil && refusalOf(err) == c.refused; n != c.n || err != nil && !refused || c.n == 0 && !refused {
					t.Errorf("%d of %s: %d, %v", len(c.ids), c.set, n, err)
				}
			}
		})
	}
}

func many(n int64) (ids []int64) {
	for i := range n {
		ids = append(ids, i+1)
	}
	return ids
}

// several adds rows of group 1, of tree 1 where there are trees, and holds that those that were added are returned.
func (w writer) several(set string, ids []int64) (int, error) {
	request := "POST " + set + " id=1,grp=1"
	if set == "Leaves" || set == "Short" {
		request += ",tree=1"
	}
	first := w.change(request, "")
	first.Values = append([]write.Assignment(nil), first.Values...)
	list := make([]*write.Change, len(ids))
	for i, id := range ids {
		c := *first
		c.Values = append([]write.Assignment(nil), first.Values...)
		c.Values[0].Value = plan.Value{Int: id}
		list[i] = &c
	}
	tx, err := w.Begin(context.Background())
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Close() }()
	rows, n, err := tx.Apply(list)
	if err != nil {
		return 0, err
	}
	for i, id := range ids[:n] {
		if i > 0 && !rows.Next() {
			return n, fmt.Errorf("%d rows of %d are there", i, n)
		}
		if key := first.After.Plan.Top.KeyOf(rows.Row()); key[0].Int != id {
			return n, fmt.Errorf("row %d is %d, and not %d", i, key[0].Int, id)
		}
	}
	if rows.Next() {
		return n, fmt.Errorf("there are more than %d rows", n)
	}
	return n, rows.Close()
}

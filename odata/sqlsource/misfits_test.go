package sqlsource_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestMisfits reads the rows of sets and singletons, and tells which values their types cannot hold: how many, where, and
// the key of the first. Hidden columns and what row policies hide are the operator's own business.
func TestMisfits(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE stays (id {BIG} PRIMARY KEY, span {STR}, code {STR} NOT NULL, at_day {STR}, at_place {STR}, secret {STR});
CREATE TABLE house (id {BIG} PRIMARY KEY, opened {STR} NOT NULL);
CREATE TABLE fine (id {BIG} PRIMARY KEY, name {STR});
INSERT INTO house VALUES (1, 'long ago');
INSERT INTO fine VALUES (1, 'soon'), (2, NULL);
INSERT INTO stays VALUES (1, 'PT1H', '1', '2024-02-29', 'here', 'x'), (2, 'soon', '2', '2023-02-29', 'there', 'x'), (3, NULL, '99999', NULL, NULL, 'x'), (4, '', 'x', 'soon', '', 'x'), (5, '1 day', '-1', 'later', '', 'x')`
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			typed := func(column, typ string) sqlsource.Property { return sqlsource.Property{Column: column, Type: typ} }
			source := open(t, database(t, dialect, ddlOf(dialect, script)), sqlsource.Config{
				Guard: edm.GuardNone, Discover: []string{"fine"},
				EntitySets: []sqlsource.EntitySet{{
					Name: "Stays", Table: "stays", Filter: "id lt 3", Hide: []string{"secret"},
					Properties: []sqlsource.Property{typed("span", "Edm.Duration"), typed("code", "Edm.Int16"), typed("at_day", "Edm.Date"), typed("secret", "Edm.Int32")},
					Complexes:  []sqlsource.Complex{{Type: "When", Prefix: "at_"}},
				}},
				Singletons: []sqlsource.EntitySet{{Name: "House", Table: "house", Properties: []sqlsource.Property{typed("opened", "Edm.DateTimeOffset")}}},
			})
			got, err := source.Misfits(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := []sqlsource.Misfit{
				{Set: "Stays", Property: "span", Column: "span", Type: "Edm.Duration", Nullable: true, Rows: 3, All: 5, Key: "2"},
				{Set: "Stays", Property: "code", Column: "code", Type: "Edm.Int16", Rows: 2, All: 5, Key: "3"},
				{Set: "Stays", Property: "When/day", Column: "at_day", Type: "Edm.Date", Nullable: true, Rows: 3, All: 5, Key: "2"},
				{Set: "House", Property: "opened", Single: true, Column: "opened", Type: "Edm.DateTimeOffset", Rows: 1, All: 1, Key: "1"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := source.Misfits(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("it goes on: %v", err)
			}
		})
	}
}

// TestMisfitsThatAreShown counts what answers show although it is none of its type: texts that are no UTF-8, and decimals with
// more digits.
func TestMisfitsThatAreShown(t *testing.T) {
	t.Parallel()
	source := open(t, database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, price DECIMAL(5,2));
INSERT INTO goods VALUES (1, 'fine', 1.25), (2, CAST(x'4de4' AS TEXT), 1.255), (3, x'4de4', 12345.5), (4, 'fine', -999.99)`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	got, err := source.Misfits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []sqlsource.Misfit{
		{Set: "goods", Property: "name", Column: "name", Type: "Edm.String", Nullable: true, Shown: true, Rows: 2, All: 4, Key: "2"},
		{Set: "goods", Property: "price", Column: "price", Type: "Edm.Decimal", Nullable: true, Shown: true, Rows: 2, All: 4, Key: "2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

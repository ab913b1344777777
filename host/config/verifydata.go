package config

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// VerifyData reads all rows of all exposed sets once, and finds the values that their declared types cannot hold: an error
// where they end an answer, a warning where null takes their place. It changes nothing, and keeps one row in memory. Of a
// configuration that [Config.Verify] finds errors in it finds nothing more.
func (c *Config) VerifyData(ctx context.Context) (found Findings) {
	var misfits Findings
	found = c.look(ctx, func(db *store.DB, dsn string) { misfits = c.verifyRows(ctx, db, dsn) })
	return append(found, misfits...)
}

// verifyRows is VerifyData beside an open database for sign-in.
func (c *Config) verifyRows(ctx context.Context, db *store.DB, dsn string) (found Findings) {
	e, unfit := c.openEndpoint(ctx, db, dsn)
	defer func() { _ = e.Close() }()
	if unfit.Failed() {
		return unfit
	}
	list, err := e.source.Misfits(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		found.Add(c.at("odata"), "the rows cannot be read: "+oneLine(err), "check that the database is in order")
	}
	for _, m := range list {
		c.misfit(&found, m)
	}
	return found.Sorted()
}

func (c *Config) misfit(f *Findings, m sqlsource.Misfit) {
	kind, add, result := "entity_set", f.Add, "an answer that shows them ends with a fault"
	if m.Single {
		kind = "singleton"
	}
	no, remedy := "no "+m.Type, "correct the rows, or give the property another type"
	switch {
	case m.Shown && m.Type == "Edm.String":
		add, no, result, remedy = f.Warn, "no UTF-8", "answers have replacement characters in them", "write the texts anew in UTF-8"
	case m.Shown:
		add, no, result, remedy = f.Warn, "longer than precision and scale of their type", "answers show all digits", "round the values, or give the property another precision and scale"
	case m.Nullable:
		add, result = f.Warn, "null takes their place"
	}
	values, are := "values", "are"
	if m.Rows == 1 {
		values, are = "value", "is"
	}
	add(c.at("odata", kind, m.Set, "property", m.Column, "type"),
		fmt.Sprintf("%s %q: the column %q has %d %s in %d rows that %s %s, the first read in the row with key %q; %s",
			kind, m.Set, m.Column, m.Rows, values, m.All, are, no, m.Key, result), remedy)
}

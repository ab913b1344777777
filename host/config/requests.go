package config

import (
	"context"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// requestsFinding is the finding of a table for requests that cannot be made.
func (c *Config) requestsFinding(err error) Finding {
	return Finding{At: c.at("odata"), What: oneLine(err), Remedy: "let the user of the database create tables, or run `vestibule migrate` as one who may, and grant it SELECT, INSERT, UPDATE and DELETE"}
}

// requests makes the table for requests that can be repeated in the database that the query endpoint writes, or looks whether
// it is there, and adds that to the steps of a migration. db is the open main database.
func (c *Config) requests(ctx context.Context, db *store.DB, steps []string, dry bool) (_ []string, err error) {
	writes := false
	for _, set := range c.OData.EntitySets {
		writes = writes || set.Write.allows()
	}
	if !writes {
		return steps, nil
	}
	dsn, _ := c.dsn()
	e, findings := c.openEndpoint(ctx, db, dsn)
	if findings.Failed() {
		return append(steps, "leave vestibule_requests to serve: the sets of odata do not fit the database yet"), nil
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var missing bool
	if dry {
		there, look := e.source.Migrated(ctx)
		missing, err = !there, look
	} else {
		missing, err = e.source.Migrate(ctx)
	}
	if err != nil {
		return steps, Findings{c.requestsFinding(err)}.Err()
	}
	if missing {
		steps = append(steps, "create the table vestibule_requests")
	}
	return steps, nil
}

package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// An endpoint is the query endpoint's source. The zero value is none.
type endpoint struct{ source *sqlsource.Source }

func (e endpoint) Close() error {
	if e.source == nil {
		return nil
	}
	return e.source.Close()
}

func (c *Config) odataOptions(logger hclog.Logger) odata.Options {
	o := c.OData
	limits := odata.Limits{
		PageSize: o.Pagination.Default, ExpandDepth: orUnlimited(o.Limits.ExpandDepth), FilterNodes: orUnlimited(o.Limits.FilterNodes),
		ApplySteps: orUnlimited(o.Limits.ApplySteps), ApplyGroups: orUnlimited(o.Limits.ApplyGroups),
		Rows: orUnlimited(o.Limits.Rows), Bytes: orUnlimited(o.Limits.Bytes),
	}
	if o.Pagination.Max != nil {
		limits.MaxPageSize = *o.Pagination.Max
	}
	if o.Limits.MaxTop != nil {
		limits.MaxTop = *o.Limits.MaxTop
	}
	parts := c.parts()
	return odata.Options{
		Limits: limits, Plans: parts.Plans, AnswerBytes: parts.Answers,
		KeyLinks: o.Pagination.Links == "key", Timeout: orUnlimited(o.Limits.Timeout), SlowReader: orUnlimited(o.Limits.SlowReader), Logger: logger.Named("odata"),
	}
}

// orUnlimited gives what package odata takes for no limit where the setting is null.
func orUnlimited[T int | int64 | time.Duration](limit *T) T {
	if limit == nil {
		return odata.Unlimited
	}
	return *limit
}

// openEndpoint reads the tables and checks the mapping against them.
func (c *Config) openEndpoint(ctx context.Context, db *store.DB, dsn string) (endpoint, Findings) {
	from, err := c.odataDatabase(ctx, db, dsn)
	if err != nil {
		remedy := "correct odata.database"
		if c.OData.Database.Driver == nil && c.OData.Database.DSN != nil {
			remedy = "write the dsn as " + dsnForms
		}
		return endpoint{}, Findings{{At: c.at("odata", "database", "dsn"), What: "the database of odata cannot be opened: " + oneLine(err), Remedy: remedy}}
	}
	mapping := c.mapping()
	texts, warnings := c.texts()
	if warnings.Failed() {
		return endpoint{}, warnings
	}
	mapping.Texts = texts
	source, err := sqlsource.New(ctx, from, mapping)
	if err == nil {
		return endpoint{source}, slices.Concat(warnings, c.brokenTables(source), c.leftOut(source), c.cascades(source))
	}
	var invalid *sqlsource.Invalid
	if !errors.As(err, &invalid) {
		return endpoint{}, Findings{{At: c.at("odata"), What: "the tables cannot be read: " + oneLine(err), Remedy: "check that the database is in order"}}
	}
	var findings Findings
	for _, f := range invalid.Findings {
		what := f.What
		if len(f.Path) > 1 {
			if c.wrong(c.refused, "odata", f.Path[0], f.Path[1]) {
				continue
			}
			what = fmt.Sprintf("%s %q: %s", f.Path[0], f.Path[1], what)
		}
		findings.Add(c.at(append([]string{"odata"}, f.Path...)...), what, f.Remedy)
	}
	return endpoint{}, findings.Sorted()
}

// brokenTables warns of the tables and views that nobody names and the database cannot read.
func (c *Config) brokenTables(source *sqlsource.Source) (found Findings) {
	for _, b := range source.Broken() {
		kind, remedy := "table", "none is needed where no set names it"
		if b.View {
			kind, remedy = "view", "correct or drop the view"
		}
		found.Warn(c.at("odata"), fmt.Sprintf("the %s %q is passed over: %s", kind, b.Name, oneLine(b.Cause)), remedy)
	}
	return found
}

// leftOut warns of the columns that sets do not have.
func (c *Config) leftOut(source *sqlsource.Source) (found Findings) {
	for _, l := range source.LeftOut() {
		what := fmt.Sprintf("the set %q is without the column %q: OData has no form for values of type %s", l.Set, l.Column, l.Type)
		found.Warn(c.at("odata"), what, "expose a view that converts the column, as with ST_AsText, if clients need it")
	}
	return found
}

// odataConnections is how many connections queries have.
func (c *Config) odataConnections() int {
	if n := c.OData.Database.MaxConnections; n != nil {
		return *n
	}
	return c.Database.MaxConnections
}

// odataDatabase is the database to read, with connections of its own: queries must
// not keep sign-in waiting. dsn is what db was opened with.
func (c *Config) odataDatabase(ctx context.Context, db *store.DB, dsn string) (sqlsource.Database, error) {
	parts := c.parts()
	from := sqlsource.Database{
		Dialect: c.Database.Driver, DSN: dsn, MaxConns: c.odataConnections(), Wait: host.WaitLeft(c.Database.Wait), Waited: host.Waited,
		HeapBytes: parts.SQLite, SeekBytes: parts.Seeks, RowBytes: parts.Rows,
	}
	driver, name, other := c.otherQueries()
	if other {
		from.Dialect, from.DSN = driver, name
	}
	switch {
	case from.Dialect != "sqlite":
		own, err := openQueries(ctx, from.Dialect, from.DSN, from.MaxConns)
		if err != nil {
			return from, err
		}
		from.DB, from.Closer = own.Reader(), own
	case other:
		var file string
		file, from.DSN = sqliteFile(from.DSN, c.origins.Dir("odata", "database", "dsn"))
		if missing, err := missingFile(file); err != nil || missing {
			return from, errors.Join(err, fmt.Errorf("there is no database %s", c.shown(file)))
		}
	default:
		from.Writer = db.Writer()
	}
	return from, nil
}

// mapping is what sqlsource needs to know, in the order in which it was written.
func (c *Config) mapping() sqlsource.Config {
	guard, _ := edm.ParseGuard(c.OData.Guard)
	m := sqlsource.Config{
		Guard: guard, Discover: c.OData.Discover, Protected: reserved.Table, PassOver: reserved.SessionTable,
		EntitySets: c.sets(c.OData.EntitySets, "entity_set"), Singletons: c.sets(c.OData.Singletons, "singleton"),
	}
	for _, name := range labels(c, c.OData.Enums, "odata", "enum") {
		e := c.OData.Enums[name]
		m.Enums = append(m.Enums, sqlsource.Enum{Name: name, Flags: e.Flags, Members: e.Members, Labels: e.Labels})
	}
	return m
}

func (c *Config) sets(blocks map[string]EntitySet, kind string) []sqlsource.EntitySet {
	var list []sqlsource.EntitySet
	for _, name := range labels(c, blocks, "odata", kind) {
		b := blocks[name]
		set := sqlsource.EntitySet{
			Name: name, Table: b.Table, Type: value(b.Type), Guard: value(b.Guard), Key: b.Key, Hide: b.Hide,
			Search: b.Search, Filter: value(b.Filter), NoApply: !b.Apply, Description: value(b.Description), Write: writeOf(b.Write),
			Look: sqlsource.TypeLook{
				Title: value(b.Title), Plural: value(b.TitlePlural), List: b.List, Fields: b.Fields, Search: b.SearchFields, SemanticKey: b.SemanticKey,
			},
		}
		path := []string{"odata", kind, name}
		for _, column := range labels(c, b.Properties, append(path, "property")...) {
			p := b.Properties[column]
			set.Properties = append(set.Properties, sqlsource.Property{
				Column: column, Name: value(p.Name), Type: value(p.Type), Precision: p.Precision, Scale: p.Scale, Aggregate: value(p.Aggregate), Description: value(p.Description),
				Look: sqlsource.Look{
					Label: value(p.Label), Text: value(p.Text), Currency: value(p.Currency), Unit: value(p.Unit),
					ValueList: value(p.ValueList), Hidden: p.Hidden, Format: value(p.Format),
				},
			})
		}
		for _, label := range labels(c, b.Complexes, append(path, "complex")...) {
			x := b.Complexes[label]
			set.Complexes = append(set.Complexes, sqlsource.Complex{Type: label, Name: x.Name, Prefix: x.Prefix})
		}
		for _, label := range labels(c, b.Navigation, append(path, "navigation")...) {
			n := b.Navigation[label]
			set.Navigations = append(set.Navigations, sqlsource.Navigation{
				Name: label, To: n.To, Many: n.Many, On: n.On, Via: value(n.Via), FromKey: value(n.FromKey), ToKey: value(n.ToKey),
			})
		}
		list = append(list, set)
	}
	return list
}

package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// Propose reads the catalogue of a database, and returns a block odata that exposes each
// of its tables that may be exposed, with labels, texts, and value lists from foreign keys,
// for people to edit. driver is sqlite, postgres or mysql; when empty, it is inferred from dsn. It
// writes nothing to the database. A file of SQLite must exist.
func Propose(ctx context.Context, driver, dsn string) (string, error) {
	if driver == "" {
		if driver = driverOf(dsn); driver == "" {
			return "", errors.New("the DSN has the form of no driver: write " + dsnForms + ", or name one with --driver")
		}
	}
	if drivers := schema.Drivers(); !slices.Contains(drivers, driver) {
		return "", fmt.Errorf("there is no driver %q: it is one of %s", driver, strings.Join(drivers, ", "))
	}
	from := sqlsource.Database{Dialect: driver, DSN: dsn, MaxConns: 1, Forget: true}
	if driver == "sqlite" {
		var file string
		file, from.DSN = sqliteFile(dsn, ".")
		if missing, err := missingFile(file); err != nil || missing {
			return "", errors.Join(err, fmt.Errorf("there is no database %s: write %s", file, dsnForms))
		}
	} else {
		own, err := openQueries(ctx, from.Dialect, from.DSN, from.MaxConns)
		if err != nil {
			return "", fmt.Errorf("open the database: %w", err)
		}
		from.DB, from.Closer = own.Reader(), own
	}
	p, err := sqlsource.Propose(ctx, from, sqlsource.Config{Protected: reserved.Table, PassOver: reserved.SessionTable})
	if err != nil {
		return "", err
	}
	return proposed(p), nil
}

// proposed is a proposal as HCL.
func proposed(p *sqlsource.Proposal) string {
	f := hclwrite.NewEmptyFile()
	block := f.Body().AppendNewBlock("odata", nil).Body()
	for i, s := range p.Sets {
		if i > 0 {
			block.AppendNewline()
		}
		b := block.AppendNewBlock("entity_set", []string{s.Name}).Body()
		setText(b, "table", s.Table)
		setTexts(b, "hide", s.Hide)
		setTexts(b, "search", s.Search)
		setText(b, "title", s.Look.Title)
		setText(b, "title_plural", s.Look.Plural)
		setTexts(b, "list", s.Look.List)
		setTexts(b, "search_fields", s.Look.Search)
		for _, c := range s.Properties {
			b := b.AppendNewBlock("property", []string{c.Column}).Body()
			setText(b, "label", c.Look.Label)
			setText(b, "text", c.Look.Text)
			setText(b, "currency", c.Look.Currency)
			setText(b, "value_list", c.Look.ValueList)
			setText(b, "format", c.Look.Format)
		}
	}
	head := "# Proposed by vestibule init --from; edit it, and put it into config.hcl or a file in conf.d.\n" +
		"# Who may query is odata.guard, and guard of a set: settled where none is given.\n"
	if slices.ContainsFunc(p.Sets, func(s sqlsource.EntitySet) bool { return len(s.Hide) > 0 }) {
		head += "# The columns in hide look like credentials, by their names; take one out that is none.\n"
	}
	for _, left := range p.Left {
		if strings.HasPrefix(left, "vestibule_") { // nobody looks for our own tables
			continue
		}
		head += "# Left out: " + strings.Map(printable, left) + "\n"
	}
	return head + string(hclwrite.Format(f.Bytes()))
}

// printable keeps names of tables from ending a comment.
func printable(r rune) rune {
	if r < ' ' {
		return '?'
	}
	return r
}

func setText(b *hclwrite.Body, name, value string) {
	if value != "" {
		b.SetAttributeValue(name, cty.StringVal(value))
	}
}

func setTexts(b *hclwrite.Body, name string, list []string) {
	if len(list) > 0 {
		b.SetAttributeValue(name, texts(list))
	}
}

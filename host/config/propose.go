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
// of its tables and views that may be exposed, for people to edit. The block has only what
// would not be so without it: keys of views, row policies for rows that belong to users, texts
// and value lists from foreign keys. driver is sqlite, postgres or mysql; when empty, it is inferred from dsn. It
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
	var b strings.Builder
	comment := func(format string, args ...any) {
		b.WriteString("# " + strings.Map(printable, fmt.Sprintf(format, args...)) + "\n")
	}
	comment("Proposed by vestibule init --from; edit it, and put it into config.hcl or a file in conf.d.")
	comment("Who may query is odata.guard, and guard of a set: settled where none is given.")
	if slices.ContainsFunc(p.Sets, func(s sqlsource.EntitySet) bool { return s.Filter != "" }) {
		comment("filter shows people the rows that refer to them; a set without it shows all rows to everybody who may query.")
	}
	if slices.ContainsFunc(p.Sets, func(s sqlsource.EntitySet) bool { return len(s.Hide) > 0 }) {
		comment("The columns in hide look like credentials, by their names; take one out that is none.")
	}
	if len(p.Guessed) > 0 {
		comment("These have no key; no two of their rows share the one that is proposed, and none ever must: %s", strings.Join(p.Guessed, ", "))
	}
	for _, left := range p.Left {
		if !strings.HasPrefix(left, "vestibule_") { // nobody looks for our own tables
			comment("Left out: %s", left)
		}
	}
	b.WriteString("odata {\n")
	for i, s := range p.Sets {
		if i > 0 && (special(s) || special(p.Sets[i-1])) {
			b.WriteString("\n")
		}
		writeSet(&b, s)
	}
	b.WriteString("}\n")
	return string(hclwrite.Format([]byte(b.String())))
}

// special reports whether a set has more than a table.
func special(s sqlsource.EntitySet) bool {
	return len(s.Key)+len(s.Hide)+len(s.Search)+len(s.Properties) > 0 || s.Filter != ""
}

// writeSet writes a block entity_set with the settings that differ from their defaults.
func writeSet(b *strings.Builder, s sqlsource.EntitySet) {
	set := block{"entity_set", s.Name, [][2]string{{"table", quoted(s.Table)}}, nil}
	for _, list := range []struct {
		name    string
		columns []string
	}{{"key", s.Key}, {"hide", s.Hide}, {"search", s.Search}} {
		if len(list.columns) > 0 {
			set.settings = append(set.settings, [2]string{list.name, string(hclwrite.TokensForValue(texts(list.columns)).Bytes())})
		}
	}
	if s.Filter != "" {
		set.settings = append(set.settings, [2]string{"filter", quoted(s.Filter)})
	}
	for _, c := range s.Properties {
		property := block{"property", c.Column, nil, nil}
		for _, setting := range [][2]string{{"text", c.Look.Text}, {"value_list", c.Look.ValueList}, {"currency", c.Look.Currency}, {"format", c.Look.Format}} {
			if setting[1] != "" {
				property.settings = append(property.settings, [2]string{setting[0], quoted(setting[1])})
			}
		}
		set.blocks = append(set.blocks, property)
	}
	set.write(b)
}

// block is a block of HCL.
type block struct {
	kind, label string
	settings    [][2]string
	blocks      []block
}

// write writes the block, on one line if it has only one setting.
func (l block) write(b *strings.Builder) {
	end := "\n"
	if len(l.settings) == 1 && len(l.blocks) == 0 {
		end = " "
	}
	b.WriteString(l.kind + " " + quoted(l.label) + " {" + end)
	for _, s := range l.settings {
		b.WriteString(s[0] + " = " + s[1] + end)
	}
	for _, inner := range l.blocks {
		inner.write(b)
	}
	b.WriteString("}\n")
}

// quoted is a text or a label in HCL.
func quoted(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}

// printable keeps names of tables from ending a comment.
func printable(r rune) rune {
	if r < ' ' {
		return '?'
	}
	return r
}

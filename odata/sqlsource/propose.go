package sqlsource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// Proposal is what Propose suggests for a database.
type Proposal struct {
	// Sets expose each table and view that can be exposed, with labels, texts, and value lists from foreign keys. Columns
	// that look like credentials are in Hide.
	Sets []EntitySet
	// Left are the tables and views that are left out, each with the reason.
	Left []string
}

// How much of a table is proposed for lists and filters.
const (
	proposedColumns = 7
	proposedFilters = 4
	shortText       = 255
)

// Propose reads the catalogue of a database and suggests sets for people to edit. Of cfg it uses Protected and PassOver
// alone: what they tell of is left out. Database.Closer is closed.
func Propose(ctx context.Context, db Database, cfg Config) (_ *Proposal, err error) {
	opened, err := open(ctx, db)
	if err != nil {
		if db.Closer != nil {
			err = errors.Join(err, db.Closer.Close())
		}
		return nil, err
	}
	defer func() {
		err = errors.Join(err, opened.Close())
		if db.Closer != nil {
			err = errors.Join(err, db.Closer.Close())
		}
	}()
	found, err := introspect.Read(ctx, opened, db.Dialect)
	if err != nil {
		return nil, err
	}
	cfg = Config{Protected: cfg.Protected, PassOver: cfg.PassOver, Discover: []string{"*"}}
	all := newBuilder(cfg, db.Dialect, found.Tables)
	if all.run(); len(all.findings) > 0 {
		return nil, &Invalid{all.findings}
	}
	out := &Proposal{Left: all.left()}
	var left []string
	cfg.Discover = nil
	cfg.EntitySets, left = all.withoutCredentials()
	out.Left = append(out.Left, left...)
	b := newBuilder(cfg, db.Dialect, found.Tables) // what is hidden is chosen for nothing
	if b.run(); len(b.findings) > 0 {
		return nil, &Invalid{b.findings}
	}
	texts := map[*edm.EntitySet]*edm.Property{}
	for _, s := range b.sets {
		texts[s.edm] = textOf(s.edm.Type)
	}
	for _, s := range b.sets {
		out.Sets = append(out.Sets, s.propose(texts))
	}
	return out, nil
}

// left tells which tables no set is made of, and why.
func (b *builder) left() []string {
	var out []string
	for _, t := range b.tables {
		name := strings.Join(tableName(t), ".")
		taken := slices.ContainsFunc(b.sets, func(s *set) bool { return s.table == t })
		switch {
		case taken:
		case t.Broken != nil:
			out = append(out, name+": the database cannot read it")
		case b.protected(t.Name, t):
			out = append(out, name+": it holds credentials")
		case b.passedOver(t):
			out = append(out, name+": it holds sessions")
		default:
			out = append(out, name+": it has no key; name the columns that identify a row in key")
		}
	}
	return out
}

// propose suggests a set over a table. texts are the properties that name the rows of each set.
func (s *set) propose(texts map[*edm.EntitySet]*edm.Property) EntitySet {
	t := s.edm.Type
	out := EntitySet{Name: s.edm.Name, Table: s.cfg.Table, Hide: s.cfg.Hide}
	plural := edm.Readable(s.edm.Name)
	out.Look.Title, out.Look.Plural = singular(plural), plural
	name := texts[s.edm]
	if name != nil {
		out.Look.List = append(out.Look.List, name.Name)
		out.Search = []string{s.columnOf(name)}
	}
	for i := range s.table.Columns {
		column := s.table.Columns[i].Name
		p := s.prop[column]
		if p == nil {
			continue
		}
		look := Look{Label: edm.Readable(p.Name), Currency: currencyOf(t, p), Format: formatOf(p)}
		nav := toOne(t, p)
		switch {
		case nav != nil:
			look.ValueList = nav.Target.Name
			if r := relation(column); r != "" {
				look.Label = edm.Readable(r)
			}
			if text := texts[nav.Target]; text != nil {
				look.Text = nav.Name + "/" + text.Name
			}
		case len(t.Key) == 1 && t.Key[0] == p && name != nil && name != p:
			look.Text = name.Name
		}
		out.Properties = append(out.Properties, Property{Column: column, Look: look})
		if p != name && inList(t, p, nav) && len(out.Look.List) < proposedColumns {
			out.Look.List = append(out.Look.List, p.Name)
		}
		if filters(p, nav) && len(out.Look.Search) < proposedFilters {
			out.Look.Search = append(out.Look.Search, p.Name)
		}
	}
	return out
}

func (s *set) columnOf(p *edm.Property) string {
	for column, q := range s.prop {
		if p == q {
			return column
		}
	}
	return ""
}

// textOf is the property by which people know a row: one with a telling name, else the first short text that every row
// has; nil where there is none.
func textOf(t *edm.EntityType) *edm.Property {
	for _, name := range []string{"name", "lastname", "surname", "title", "label", "subject", "caption"} {
		for _, p := range t.Properties {
			if p.Type.Kind == edm.String && strings.EqualFold(strings.ReplaceAll(p.Name, "_", ""), name) {
				return p
			}
		}
	}
	for _, p := range t.Properties {
		if p.Type.Kind == edm.String && !p.Nullable && !t.IsKey(p) && p.Type.MaxLength > 0 && p.Type.MaxLength <= shortText {
			return p
		}
	}
	return nil
}

// toOne is the navigation that a property alone leads through, to a set that has its values as key; nil for none.
func toOne(t *edm.EntityType, p *edm.Property) *edm.Navigation {
	for _, n := range t.Navigation {
		if !n.Collection && len(n.Constraints) == 1 && n.Constraints[0].Property == p {
			return n
		}
	}
	return nil
}

// inList tells whether a column is worth a place in a table: foreign keys, and what is short and no number of a row.
func inList(t *edm.EntityType, p *edm.Property, nav *edm.Navigation) bool {
	switch k := p.Type.Kind; {
	case nav != nil:
		return true
	case t.IsKey(p):
		return len(t.Key) > 1 || k == edm.String
	case k == edm.String:
		return p.Type.MaxLength > 0 && p.Type.MaxLength <= shortText
	default:
		return k != edm.Binary && k != edm.Stream && k != edm.Guid
	}
}

func filters(p *edm.Property, nav *edm.Navigation) bool {
	k := p.Type.Kind
	return nav != nil || k == edm.Boolean || k == edm.Date || k == edm.DateTimeOffset
}

// currencyOf is the property with the currency of a sum of money.
func currencyOf(t *edm.EntityType, p *edm.Property) string {
	if p.Type.Kind != edm.Decimal || !holds(p.Name, "price", "amount", "total", "cost", "sum") {
		return ""
	}
	for _, c := range t.Properties {
		if c.Type.Kind == edm.String && holds(c.Name, "currency") {
			return c.Name
		}
	}
	return ""
}

func formatOf(p *edm.Property) string {
	switch {
	case p.Type.Kind != edm.String:
		return ""
	case p.Type.MaxLength == 0 && holds(p.Name, "description", "note", "comment", "remark", "body"):
		return "multiline"
	case holds(p.Name, "url", "website", "homepage"):
		return "url"
	}
	return ""
}

// singular guesses what one of several is called, in English.
func singular(plural string) string {
	for _, end := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(plural, end[0]); ok && stem != "" {
			return stem + end[1]
		}
	}
	return plural
}

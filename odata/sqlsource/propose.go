package sqlsource

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// Proposal is what Propose suggests for a database.
type Proposal struct {
	// Sets expose each table and view that can be exposed, and have only what would not be so without it: columns that look
	// like credentials in Hide, keys of views, row policies for rows that belong to users, and texts and value lists from
	// foreign keys.
	Sets []EntitySet
	// Guessed are the tables and views whose keys in Sets are a guess: no two of the rows that they have share one.
	Guessed []string
	// Left are the tables and views that are left out, each with the reason.
	Left []string
}

// usersTable is the table of the people who sign in to a host.
const usersTable = "users"

// shortText is the length up to which a text may name a row.
const shortText = 255

// Propose reads the catalogue of a database and suggests sets for people to edit. It looks for keys in the rows of tables
// and views that have none. Of cfg it uses Protected and PassOver alone: tables that they report are left out.
// Database.Closer is closed.
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
	out := &Proposal{}
	p := &proposer{builder: newBuilder(cfg, db.Dialect, found.Tables), guessed: map[*introspect.Table]bool{}}
	if out.Left, err = p.choose(ctx, opened); err != nil {
		return nil, err
	}
	if p.run(); len(p.findings) > 0 {
		return nil, &Invalid{p.findings}
	}
	cfg.Discover = nil
	var left []string
	cfg.EntitySets, left = p.withoutCredentials()
	out.Left = append(out.Left, left...)
	p.builder = newBuilder(cfg, db.Dialect, p.tables) // a hidden column names nothing
	if p.run(); len(p.findings) > 0 {
		return nil, &Invalid{p.findings}
	}
	p.texts = map[*edm.EntitySet]*edm.Property{}
	for _, s := range p.sets {
		p.texts[s.edm] = textOf(s.edm)
	}
	for _, s := range p.sets {
		out.Sets = append(out.Sets, p.propose(s))
		if p.guessed[s.table] {
			out.Guessed = append(out.Guessed, s.cfg.Table)
		}
	}
	return out, nil
}

// proposer is a builder of what is proposed.
type proposer struct {
	*builder
	// guessed are the tables whose key was found in their rows.
	guessed map[*introspect.Table]bool
	// texts are the properties that name the rows of each set.
	texts map[*edm.EntitySet]*edm.Property
}

// choose takes the tables out that cannot or should not be exposed, and returns them with the reasons. Others without a key
// get one.
func (p *proposer) choose(ctx context.Context, db engine.DB) (left []string, err error) {
	all, end := p.tables, time.Now().Add(guessAll)
	keyed := slices.DeleteFunc(slices.Clone(all), func(t *introspect.Table) bool { return len(t.Key) == 0 })
	definitions, err := introspect.Definitions(ctx, db, p.dialect)
	if err != nil {
		return nil, err
	}
	reads := p.viewReads(definitions)
	p.tables = nil
	frameworks := map[string][]string{}
	for _, t := range all {
		name, why := strings.Join(tableName(t), "."), reads.unsafe(t)
		var key []string
		switch framework := frameworkOf(t); {
		case t.Broken != nil:
			why = "the database cannot read it"
		case p.protected(t.Name, t):
			why = "it holds credentials"
		case p.passedOver(t):
			why = "it holds sessions"
		case framework != "":
			frameworks[framework] = append(frameworks[framework], name)
			continue
		case strings.TrimSpace(t.Name) == "":
			why = "it has no name; make a view that has one"
		case why != "":
		case len(t.Key) == 0 && len(t.Unique) == 0:
			key, why, err = guessKey(ctx, min(guessTime, time.Until(end)), db, p.dialect, t, keyed)
		}
		switch {
		case err != nil:
			return nil, err
		case why != "":
			left = append(left, name+": "+why)
			continue
		case key != nil:
			t.Key, p.guessed[t] = key, true
		}
		p.tables = append(p.tables, t)
	}
	for _, framework := range slices.Sorted(maps.Keys(frameworks)) {
		left = append(left, strings.Join(frameworks[framework], ", ")+": kept by "+framework+" for itself")
	}
	return left, nil
}

// propose suggests what is special of a set.
func (p *proposer) propose(s *set) EntitySet {
	t := s.edm.Type
	out := EntitySet{Name: s.edm.Name, Table: s.cfg.Table, Hide: s.cfg.Hide, Filter: p.policy(s)}
	if p.guessed[s.table] {
		out.Key = s.table.Key
	}
	name := p.texts[s.edm]
	for i := range s.table.Columns {
		column := s.table.Columns[i].Name
		q := s.prop[column]
		if q == nil || strings.TrimSpace(column) == "" {
			continue
		}
		if q == name {
			out.Search = []string{column}
		}
		look := Look{Currency: currencyOf(t, q)}
		if q != name {
			look.Format = formatOf(q)
		}
		nav := toOne(t, q)
		switch {
		case nav != nil:
			if key := nav.Pairs[0].Other[0].Type.Kind; key == q.Type.Kind || key.Numeric() && q.Type.Kind.Numeric() {
				look.ValueList = nav.Target.Name
			}
			if text := p.texts[nav.Target]; text != nil {
				look.Text = nav.Name + "/" + text.Name
			}
		case len(t.Key) == 1 && t.Key[0] == q && name != nil && name != q && !p.guessed[s.table]:
			look.Text = name.Name
		}
		if look != (Look{}) {
			out.Properties = append(out.Properties, Property{Column: column, Look: look})
		}
	}
	return out
}

// policy returns the row policy for rows that belong to users: a foreign key to their table, or a column of a view with the
// name of such a key, is the column of the signed-in user. It is empty for a table without one.
func (p *proposer) policy(s *set) string {
	var either []string
	add := func(column, referenced string) {
		q := s.prop[column]
		for _, hidden := range s.edm.Type.Hidden {
			if s.stored.Columns[hidden] == s.column[column] {
				q = hidden
			}
		}
		condition := ""
		if q != nil && !credential(referenced) {
			condition = q.Name + " eq @user_" + makeIdentifier(referenced)
		}
		if condition != "" && !slices.Contains(either, condition) {
			either = append(either, condition)
		}
	}
	for _, t := range p.tables {
		if t != s.table && !s.table.View {
			continue
		}
		for _, f := range t.Foreign {
			if toUsers(f) && s.table.Column(f.Columns[0]) != nil && (t == s.table || !strings.EqualFold(f.Columns[0], "id")) {
				add(f.Columns[0], f.Referenced[0])
			}
		}
	}
	return strings.Join(either, " or ")
}

// textOf returns the property by which people know a row: one with a telling name, such as name, CompanyName or, for
// products, product_title; else the first short text that every row has; nil for none.
func textOf(set *edm.EntitySet) *edm.Property {
	t := set.Type
	own := folded(singular(set.Name))
	for _, name := range []string{
		"name", "lastname", "surname", "title", "label", "subject", "caption", "displayname", "fullname", "companyname",
		own + "name", own + "title", own + "label", own + "description",
	} {
		for _, p := range t.Properties {
			if p.Type.Kind == edm.String && folded(p.Name) == name {
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

// folded returns a name without case and underscores.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// toOne is the navigation that a property alone leads through, to a set that has its values as key; nil for none.
func toOne(t *edm.EntityType, p *edm.Property) *edm.Navigation {
	for _, n := range t.Navigation {
		if !n.Collection && n.Constrained && len(n.Pairs) == 1 && n.Pairs[0].Own[0] == p {
			return n
		}
	}
	return nil
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

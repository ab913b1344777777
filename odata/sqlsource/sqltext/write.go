package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Row is the statement that reads the one row of a node, with its columns. With lock the row stays as it is until the
// transaction ends, which needs LockRow before where Locks is false.
func (g *Generator) Row(n *plan.Node, lock bool) Statement {
	f := fill("SELECT $1 $2 LIMIT 1", plain(g.list(n, nil)), g.from(n.Query))
	if lock && g.d.remote() {
		f = fill("$1 FOR UPDATE", f)
		if _, ok := g.d.(postgres); ok {
			f.sql += " OF " + alias(n.Query.Range)
		}
	}
	return g.finish(f)
}

// After is the statement that reads the row of a change once it is written, which has the key of the plan.
func (g *Generator) After(c *write.Change, p *plan.Plan) Statement {
	n := p.Top
	q := n.Query
	if len(q.Joins)+len(q.Counts)+len(q.Computed) > 0 || q.Range.Derived != nil {
		return g.Row(n, false)
	}
	return g.shaped(c, 1, ReturnNothing, []frag{g.condition(q.Key, true)}, func() (frag, int) {
		list := plain(g.list(n, nil))
		return fill("SELECT $1 $2 LIMIT 1", list, g.from(q)), len(list.args)
	})
}

// prepared returns the statement in a slot of Change.Prepared; nil for none of this generator.
func (g *Generator) prepared(c *write.Change, slot int) *shaped {
	if c.Prepared == nil {
		return nil
	}
	if kept, ok := c.Prepared[slot].Load().(*shaped); ok && kept.gen == g {
		return kept
	}
	return nil
}

// shaped is the statement with changing fragments, whose arguments come one after the other behind some others. It is made of
// them by compose unless the change has one of its shape in a slot of Change.Prepared: then the text is that of the kept one.
func (g *Generator) shaped(c *write.Change, slot int, what Returning, changing []frag, compose func() (f frag, before int)) Statement {
	kept := g.prepared(c, slot)
	if kept != nil && kept.what == what && slices.EqualFunc(kept.changing, changing, func(text string, f frag) bool { return text == f.sql }) {
		_, n := lengths(changing)
		args := append(make([]any, 0, len(kept.before)+n+len(kept.after)), kept.before...)
		for _, f := range changing {
			args = append(args, f.args...)
		}
		return Statement{SQL: kept.SQL, Args: append(args, kept.after...)}
	}
	f, before := compose()
	s := g.finish(f)
	if c.Prepared != nil {
		_, count := lengths(changing)
		kept := &shaped{gen: g, what: what, SQL: s.SQL, before: s.Args[:before], after: s.Args[before+count:]}
		for _, f := range changing {
			kept.changing = append(kept.changing, f.sql)
		}
		c.Prepared[slot].Store(kept)
	}
	return s
}

// shaped is the text of a statement for changes of one shape, with the arguments before and after those of its changing
// fragments.
type shaped struct {
	gen  *Generator
	what Returning
	// changing are the texts of the fragments; of an INSERT those of one row.
	changing []string
	// inserts are the texts of an INSERT of each number of rows that sizeOf gives, which has no SQL.
	inserts       [atOnce]string
	SQL           string
	before, after []any
}

// Locks reports whether Row can lock the row of a node alone. MariaDB would lock those of joined tables, too.
func (g *Generator) Locks(n *plan.Node) bool {
	_, ok := g.d.(mysql)
	return !ok || len(n.Query.Joins)+len(n.Query.Counts) == 0
}

// LockRow locks the row of a node, whatever policy and filter say of it.
func (g *Generator) LockRow(n *plan.Node) Statement {
	r := n.Query.Range
	return g.finish(fill("SELECT 1 FROM $1 AS "+alias(r)+" WHERE $2 FOR UPDATE", g.source(r), g.condition(n.Query.Key, true)))
}

// Returning is how the row of a change is found once it is written.
type Returning uint8

const (
	// ReturnNothing is for a row that is found by a key that is known.
	ReturnNothing Returning = iota
	// ReturnKey makes the statement return the columns of the key.
	ReturnKey
	// ReturnRow makes the statement return the columns of Change.After and, behind them, whether the row policy of the set holds.
	ReturnRow
	// NoteMatch makes an UPDATE of MariaDB set the variable @vestibule_matched to 1 if a row meets its conditions, changed or not.
	NoteMatch
)

// Returns reports whether the statement of a change can return what Change.After reads: where the columns depend on nothing but the
// row itself, or a creation's on rows of other tables, and no trigger changes that. MariaDB returns new rows alone.
func (g *Generator) Returns(c *write.Change) bool {
	if kept := g.prepared(c, 0); kept != nil {
		return kept.what == ReturnRow
	}
	_, mysql := g.d.(mysql)
	if mysql && (c.Kind != write.Create || g.m.NoReturning) || c.After == nil || c.Before != nil && alias(c.Before.Range()) != alias(c.After.Range()) {
		return false
	}
	n := c.After.Plan.Top
	q := n.Query
	if len(n.Expand)+len(q.Joins)+len(q.Counts)+len(q.Computed) > 0 || q.Filter != nil || q.Search != nil || q.Range.Derived != nil || g.m.Tables[c.Set].Rules.Triggers {
		return false
	}
	plain := plainExpr
	if c.Kind == write.Create && !isAlias(g.TableName(c.Set)) {
		plain = func(e plan.Expr) bool { return g.readsOthers(g.m.Tables[c.Set], e) }
	}
	return plain(q.Range.Policy) && !slices.ContainsFunc(n.Columns, func(column plan.Column) bool { return !plain(column.Expr) })
}

// plainExpr reports whether an expression looks at no other row.
func plainExpr(e plan.Expr) bool {
	plain := true
	if e != nil {
		plan.WalkInto(func(e plan.Expr) bool {
			_, sub := e.(*plan.Sub)
			plain = plain && !sub
			return plain
		}, e)
	}
	return plain
}

// storedAll are the values of a change; false if one does not fit.
func (g *Generator) storedAll(r *plan.Range, c *write.Change) ([]frag, bool) {
	values := slices.Clip(g.kept(c))
	known := values != nil
	if !known {
		values = make([]frag, len(c.Values), len(c.Values)+1)
	}
	for i := range c.Values {
		if known && c.Values[i].Of == nil {
			continue
		}
		var ok bool
		if values[i], ok = g.stored(r, &c.Values[i]); !ok {
			return nil, false
		}
	}
	return values, true
}

// insert adds rows, which have the values of the same properties.
func (g *Generator) insert(c *write.Change, rows []frag) frag {
	r := c.After.Range()
	f := text("INSERT INTO " + g.table(g.m.Tables[c.Set].Name))
	_, mysql := g.d.(mysql)
	if !mysql {
		f.sql += " AS " + alias(r)
	}
	columns := make([]frag, len(c.Values))
	for i := range c.Values {
		columns[i] = g.target(r, c.Values[i].Path)
	}
	switch {
	case len(columns) > 0:
		return fill("$1 ($2) VALUES ($3)", f, join(", ", columns...), join("), (", rows...))
	case mysql:
		return fill("$1 () VALUES ()", f)
	}
	return fill("$1 DEFAULT VALUES", f)
}

// target is the column of a property, to be written.
func (g *Generator) target(r *plan.Range, path []*edm.Property) frag {
	return text(g.d.quote(g.columnOf(&plan.Ref{Range: r, Path: path}).Name))
}

func (g *Generator) returning(f frag, c *write.Change, what Returning) frag {
	switch what {
	case ReturnKey:
		return fill("$1 RETURNING $2", f, join(", ", g.keyColumns(c)...))
	case ReturnRow:
		return fill("$1 RETURNING $2", f, g.returnedRow(c))
	}
	return f
}

// returnedRow is the list of ReturnRow. PostgreSQL alone knows the alias of the row there.
func (g *Generator) returnedRow(c *write.Change) frag {
	of := *g
	if _, ok := g.d.(postgres); !ok {
		of.returned = c.After.Range()
	}
	policy := truth(true)
	if p := c.After.Range().Policy; p != nil {
		policy = of.condition(p, true)
	}
	return join(", ", of.list(c.After.Plan.Top, []frag{fill("CASE WHEN $1 THEN 1 ELSE 0 END", policy)})...)
}

// keyColumns are those of the key, as package cursor decodes them. MariaDB knows no alias there.
func (g *Generator) keyColumns(c *write.Change) []frag {
	var list []frag
	for _, p := range c.Set.Type.Key {
		column, t := g.m.Tables[c.Set].Columns[p], p.Type
		if column.Text {
			t = edm.Of(edm.String)
		}
		list = append(list, g.d.fetch(text(g.d.quote(column.Name)), column, t))
	}
	return list
}

// ReturnsKeys reports whether Insert takes ReturnKey.
func (g *Generator) ReturnsKeys() bool { return !g.m.NoReturning }

// KeyNode is a node whose columns are those of ReturnKey.
func (g *Generator) KeyNode(c *write.Change) *plan.Node {
	r := c.After.Range()
	n := &plan.Node{Set: c.Set, Query: &plan.Query{Range: r}}
	for i := range c.Set.Type.Key {
		ref := r.KeyRef(i)
		n.Columns = append(n.Columns, plan.Column{Expr: ref, T: ref.T})
		n.Key = append(n.Key, i)
	}
	return n
}

// Update is the statement that gives the row of a change its values, if it meets the conditions of the change; empty if a value does
// not fit. version is the value that the row must have in Change.Version; nil for any.
func (g *Generator) Update(c *write.Change, version *int64, what Returning) Statement {
	values, ok := g.storedAll(c.Before.Range(), c)
	if !ok {
		return Statement{}
	}
	demands := joinFrags(g.demands(c, version))
	if what == NoteMatch { // the text that is kept is that of the first try, without the note
		values = slices.Clone(values)
		values[0] = fill("IF((@vestibule_matched := 1) = 1, $1, NULL)", values[0])
		return g.finish(g.update(c, values, demands))
	}
	return g.shaped(c, 0, what, append(values, demands), func() (frag, int) { return g.returning(g.update(c, values, demands), c, what), 0 })
}

func (g *Generator) update(c *write.Change, values []frag, demands frag) frag {
	r := c.Before.Range()
	var sets []frag
	for i, value := range values {
		sets = append(sets, fill("$1 = $2", g.target(r, c.Values[i].Path), value))
	}
	if c.Version != nil {
		path := []*edm.Property{c.Version}
		_, greatest := c.Version.Type.Kind.Bounds()
		now := g.column(&plan.Ref{Range: r, Path: path, T: c.Version.Type})
		next := fill("CASE WHEN $1 < "+strconv.FormatInt(greatest, 10)+" THEN $1 + 1 ELSE 1 END", now)
		sets = append(sets, fill("$1 = $2", g.target(r, path), next))
	}
	return fill("UPDATE "+g.table(g.m.Tables[c.Set].Name)+" AS "+alias(r)+" SET $1 WHERE $2", join(", ", sets...), demands)
}

// demands are the conditions that the row of a change must meet: its key, the row policy, the filter of what may be written, and
// the version that the client knows.
func (g *Generator) demands(c *write.Change, version *int64) []frag {
	q := c.Before.Plan.Top.Query
	conds := []frag{g.condition(q.Range.Is(c.Key), true)}
	if condition := c.Before.Condition(); condition != nil {
		f := g.condition(condition, true)
		if len(q.Joins)+len(q.Counts) > 0 {
			f = fill("EXISTS (SELECT 1 $1 WHERE $2)", g.joins(text("FROM (SELECT 1 AS n) AS base"), q), f)
		}
		conds = append(conds, f)
	}
	if version != nil {
		ref := &plan.Ref{Range: q.Range, Path: []*edm.Property{c.Set.Write.Version}, T: c.Set.Write.Version.Type}
		conds = append(conds, g.compare("eq", ref, &plan.Literal{T: ref.T, Value: plan.Value{Int: *version}}, true))
	}
	return conds
}

// Delete is the statement that deletes the row of a change, if it meets the conditions of the change; see Update.
func (g *Generator) Delete(c *write.Change, version *int64) Statement {
	demands := joinFrags(g.demands(c, version))
	return g.shaped(c, 0, ReturnNothing, []frag{demands}, func() (frag, int) { return g.deletion(c, demands), 0 })
}

func (g *Generator) deletion(c *write.Change, demands frag) frag {
	r, table := c.Before.Range(), g.table(g.m.Tables[c.Set].Name)
	if _, ok := g.d.(mysql); !ok {
		return fill("DELETE FROM "+table+" AS "+alias(r)+" WHERE $1", demands)
	}
	if plainExpr(c.Before.Condition()) && len(c.Before.Plan.Top.Query.Joins) == 0 {
		return fill("DELETE "+alias(r)+" FROM "+table+" AS "+alias(r)+" WHERE $1", demands)
	}
	// MariaDB deletes from no table that the conditions read, unless they are a table of their own.
	var keys, same []frag
	for _, p := range c.Set.Type.Key {
		name := g.d.quote(g.m.Tables[c.Set].Columns[p].Name)
		keys = append(keys, text(alias(r)+"."+name))
		same = append(same, text("gone."+name+" = found."+name))
	}
	return fill("DELETE gone FROM "+table+" AS gone JOIN (SELECT $1 FROM "+table+" AS "+alias(r)+" WHERE $2) AS found ON $3", join(", ", keys...), demands, joinFrags(same))
}

// Nothing is a statement of a verb, INSERT, UPDATE or DELETE, that changes no row of a set.
func (g *Generator) Nothing(set *edm.EntitySet, verb string) string {
	table := g.table(g.m.Tables[set].Name)
	column := g.d.quote(g.m.Tables[set].Columns[set.Type.Key[0]].Name)
	for p, c := range g.m.Tables[set].Columns { // an identity may be one that nobody may give
		if !p.Computed && c.Sub == nil {
			column = g.d.quote(c.Name)
			break
		}
	}
	switch verb {
	case "INSERT":
		return g.finish(text("INSERT INTO " + table + " (" + column + ") SELECT " + column + " FROM " + table + " WHERE 1 = 0")).SQL
	case "UPDATE":
		return g.finish(text("UPDATE " + table + " SET " + column + " = " + column + " WHERE 1 = 0")).SQL
	}
	return g.finish(text("DELETE FROM " + table + " WHERE 1 = 0")).SQL
}

// Others is the statement that looks for another row with the values that a change gives a unique index; false where it gives it
// none, or where the database gives some.
func (g *Generator) Others(c *write.Change, index Constraint) (Statement, bool) {
	r := c.After.Range()
	given := map[string]frag{}
	for i := range c.Values {
		if value, ok := g.stored(r, &c.Values[i]); ok {
			given[g.ColumnOf(c.Set, c.Values[i].Path).Name] = value
		}
	}
	var conds, own []frag
	touched := false
	for _, name := range index.Columns {
		value, ok := given[name]
		if !ok && c.Kind == write.Create {
			return Statement{}, false
		}
		if touched = touched || ok; !ok {
			value = text("own." + g.d.quote(name))
		}
		conds = append(conds, fill(alias(r)+"."+g.d.quote(name)+" = $1", value))
	}
	from := fill("$1 AS "+alias(r), g.source(r))
	if c.Kind == write.Update {
		var same []frag
		for i, p := range c.Set.Type.Key {
			name := g.d.quote(g.m.Tables[c.Set].Columns[p].Name)
			value, _ := g.stored(r, &write.Assignment{Path: []*edm.Property{p}, Value: c.Key[i]})
			own = append(own, fill("own."+name+" = $1", value))
			same = append(same, text(alias(r)+"."+name+" = own."+name))
		}
		from = fill("$1, $2 AS own", from, g.source(r))
		conds = append(append(conds, own...), fill("NOT ($1)", joinFrags(same)))
	}
	return g.finish(fill("SELECT 1 FROM $1 WHERE $2 LIMIT 1", from, joinFrags(conds))), touched
}

// Alone reports whether the conditions of a change look at no other row than its own.
func (g *Generator) Alone(c *write.Change) bool {
	q := c.Before.Plan.Top.Query
	return plainExpr(c.Before.Condition()) && len(q.Joins)+len(q.Counts) == 0
}

// TableName returns the name of the table of a set, without its schema.
func (g *Generator) TableName(set *edm.EntitySet) string {
	name := g.m.Tables[set].Name
	return name[len(name)-1]
}

// Rules returns what the database demands of the rows of a set.
func (g *Generator) Rules(set *edm.EntitySet) Rules { return g.m.Tables[set].Rules }

// ColumnOf returns the column of a property.
func (g *Generator) ColumnOf(set *edm.EntitySet, path []*edm.Property) *Column {
	c := g.m.Tables[set].Columns[path[0]]
	for _, p := range path[1:] {
		c = c.Sub[p]
	}
	return c
}

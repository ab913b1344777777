package cursor_test

import (
	"context"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// database is an engine without a database: it answers every statement with the same rows, or fails at a given place,
// which a real database does only by chance.
type database struct {
	rows                       [][]engine.Cell
	version                    string
	beginErr, queryErr, rowErr error
	failAt                     int // the row, from 0, at which rowErr is returned
	statements                 []sqltext.Statement
	need                       engine.Need // of the last transaction
	commits                    bool        // somebody commits before each transaction
}

func (d *database) Begin(_ context.Context, need engine.Need) (engine.Tx, error) {
	d.need = need
	if d.commits {
		d.version += "+"
	}
	return &tx{d}, d.beginErr
}
func (d *database) Close() error { return nil }

type tx struct{ d *database }

func (t *tx) Query(query string, args []any) (engine.Cursor, error) {
	t.d.statements = append(t.d.statements, sqltext.Statement{SQL: query, Args: args})
	return &cells{d: t.d, at: -1}, t.d.queryErr
}
func (t *tx) Interleaves() bool { return true }
func (t *tx) Version() string   { return t.d.version }
func (t *tx) Close() error      { return nil }

// cells overwrites the bytes of a row with the next one, as an engine may.
type cells struct {
	d     *database
	at    int
	arena []byte
}

func (c *cells) Next() (bool, error) {
	c.at++
	if c.d.rowErr != nil && c.at == c.d.failAt {
		return false, c.d.rowErr
	}
	return c.at < len(c.d.rows), nil
}

func (c *cells) Row(out []engine.Cell) error {
	c.arena = c.arena[:0]
	copy(out, c.d.rows[c.at])
	for i := range out {
		if b := out[i].Bytes; b != nil {
			from := len(c.arena)
			c.arena = append(c.arena, b...)
			out[i].Bytes = c.arena[from:]
		}
	}
	return nil
}
func (c *cells) Close() error { return nil }

// things is a set with the key ID and the property Value of a type.
type things struct {
	set       *edm.EntitySet
	id, value *edm.Property
	table     *sqltext.Table
	gen       *sqltext.Generator
}

func newThings(t *testing.T, typ edm.Type) *things {
	t.Helper()
	id := &edm.Property{Name: "ID", Type: edm.Of(edm.Int64)}
	value := &edm.Property{Name: "Value", Type: typ, Nullable: true}
	s := &things{id: id, value: value, set: &edm.EntitySet{Name: "Things", Type: &edm.EntityType{
		Name: "Thing", Key: []*edm.Property{id}, Properties: []*edm.Property{id, value},
	}}}
	var err error
	s.table = &sqltext.Table{
		Name:    []string{"things"},
		Columns: map[*edm.Property]*sqltext.Column{id: {Name: "id"}, value: {Name: "value", Nullable: true}},
	}
	s.gen, err = sqltext.New("sqlite", &sqltext.Mapping{Tables: map[*edm.EntitySet]*sqltext.Table{s.set: s.table}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// page is the plan for size things behind skip ones, in the order of their key;
// owner, when not 0, is a value that a row policy takes from the caller.
func (s *things) page(skip, size, owner int64) *plan.Plan {
	r := &plan.Range{Set: s.set}
	id := &plan.Ref{Range: r, Path: []*edm.Property{s.id}, T: s.id.Type}
	value := &plan.Ref{Range: r, Path: []*edm.Property{s.value}, T: s.value.Type}
	if owner != 0 {
		mine := &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: owner}}
		r.Policy = &plan.Call{Name: "eq", Args: []plan.Expr{id, mine}, T: edm.Of(edm.Boolean)}
	}
	return &plan.Plan{Kind: plan.Collection, Top: &plan.Node{
		Set: s.set, Many: true, Key: []int{0},
		Query:   &plan.Query{Range: r, Order: []plan.Order{{Expr: id}}},
		Columns: []plan.Column{{Expr: id, T: s.id.Type}, {Expr: value, T: s.value.Type}},
		Fields:  []plan.Field{{Name: "ID", T: s.id.Type}, {Name: "Value", T: s.value.Type, Column: 1}},
		Page:    plan.Page{Skip: skip, Rows: size, Read: size + 1, Next: true, NextSkip: skip + size},
	}}
}

func (s *things) reader(d *database) *cursor.Reader {
	return &cursor.Reader{DB: d, Gen: s.gen}
}

func integer(n int64) engine.Cell { return engine.Cell{Kind: engine.Int, Int: n} }
func text(s string) engine.Cell   { return engine.Cell{Kind: engine.Text, Bytes: []byte(s)} }
func blob(s string) engine.Cell   { return engine.Cell{Kind: engine.Blob, Bytes: []byte(s)} }
func real(f float64) engine.Cell  { return engine.Cell{Kind: engine.Float, Float: f} }

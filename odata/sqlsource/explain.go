package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// Explain runs a plan to its end, and tells which statements that took, how the database went about them, and which
// index would help. For operators: it shows SQL.
func (s *Source) Explain(ctx context.Context, p *plan.Plan) (plan.Explanation, error) {
	rec := &recorder{DB: s.db}
	rows, err := cursor.Open(ctx, rec, s.gen, p)
	if err != nil {
		return plan.Explanation{}, err
	}
	drain(rows, p.Top)
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return plan.Explanation{}, fmt.Errorf("run the plan: %w", err)
	}
	out := plan.Explanation{Advice: s.gen.Advise(p.Top)}
	for _, st := range rec.list {
		lines, err := s.queryPlan(ctx, st)
		if err != nil {
			return out, fmt.Errorf("ask for the query plan: %w", err)
		}
		out.Statements = append(out.Statements, plan.ExplainedStatement{
			SQL: st.sql, Params: len(st.args), QueryPlan: lines, Rows: st.rows, Elapsed: st.end.Sub(st.start),
		})
	}
	for _, h := range s.gen.Hints(p.Top) {
		if h.Advice != "" {
			out.Advice = append(out.Advice, h.Advice)
		}
		if h.Index != "" && !mentions(out.Statements, h.Index) {
			h.Text += "; here the database preferred another way"
		}
		out.Notes = append(out.Notes, h.Text)
	}
	return out, nil
}

// mentions tells whether a query plan names an index.
func mentions(list []plan.ExplainedStatement, index string) bool {
	return slices.ContainsFunc(list, func(s plan.ExplainedStatement) bool {
		return strings.Contains(s.SQL, index) || slices.ContainsFunc(s.QueryPlan, func(line string) bool { return strings.Contains(line, index) })
	})
}

func drain(rows plan.Rows, n *plan.Node) {
	for rows.Next() {
		for i, x := range n.Expand {
			drain(rows.Expand(i), x)
		}
	}
}

// queryPlan asks the database how it executes a statement: EXPLAIN, a line for each row or line of its answer.
func (s *Source) queryPlan(ctx context.Context, st *recorded) (lines []string, err error) {
	prefix, width := "EXPLAIN ", 1
	switch s.dialect {
	case "sqlite":
		prefix, width = "EXPLAIN QUERY PLAN ", 4
	case "mysql":
		prefix = "EXPLAIN FORMAT=JSON "
	}
	err = engine.Ask(ctx, s.db, width, func(cells []engine.Cell) bool {
		lines = append(lines, strings.Split(string(cells[width-1].Bytes), "\n")...)
		return true
	}, prefix+st.sql, st.args...)
	return lines, err
}

// recorder is a database that remembers the statements that it ran, and how long they took.
type recorder struct {
	engine.DB
	list []*recorded
}

type recorded struct {
	sql        string
	args       []any
	rows       int
	start, end time.Time
}

func (r *recorder) Begin(ctx context.Context, need engine.Need) (engine.Tx, error) {
	tx, err := r.DB.Begin(ctx, need)
	if err != nil {
		return nil, err
	}
	return &recordedTx{tx, r}, nil
}

type recordedTx struct {
	engine.Tx
	r *recorder
}

func (t *recordedTx) Query(query string, args []any) (engine.Cursor, error) {
	st := &recorded{sql: query, args: args, start: time.Now()}
	t.r.list = append(t.r.list, st)
	cur, err := t.Tx.Query(query, args)
	st.end = time.Now()
	if err != nil {
		return nil, err
	}
	return &recordedCursor{cur, st}, nil
}

type recordedCursor struct {
	engine.Cursor
	st *recorded
}

func (c *recordedCursor) Next() (bool, error) {
	ok, err := c.Cursor.Next()
	if ok {
		c.st.rows++
	}
	c.st.end = time.Now()
	return ok, err
}

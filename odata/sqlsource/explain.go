package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Explain runs a plan to its end, and returns which statements that took, how the database went about them, and which
// index would help. It writes each statement to out before the statement runs: its text, and then its query plan. What is
// known when ctx ends comes with the error of ctx. The text is for operators: it shows SQL.
func (s *Source) Explain(ctx context.Context, p *plan.Plan, out io.Writer) (plan.Explanation, error) {
	gen, err := s.reader.Proved(ctx, p)
	if err != nil {
		return plan.Explanation{}, fmt.Errorf("look at the data: %w", err)
	}
	rec := &recorder{DB: s.db, dialect: s.dialect, out: out}
	err = rec.run(ctx, gen, p)
	e := plan.Explanation{Statements: rec.statements(), Advice: gen.Advise(p.Top)}
	for _, h := range append(gen.Hints(p.Top), gen.Cleaned(p.Top)...) {
		if h.Advice != "" {
			e.Advice = append(e.Advice, h.Advice)
		}
		if h.Index != "" && len(e.Statements) > 0 && !mentions(e.Statements, h.Index) {
			h.Text += "; here the database preferred another way"
		}
		e.Notes = append(e.Notes, h.Text)
	}
	return e, err
}

// mentions tells whether a query plan names an index.
func mentions(list []plan.ExplainedStatement, index string) bool {
	return slices.ContainsFunc(list, func(s plan.ExplainedStatement) bool {
		return strings.Contains(s.SQL, index) || slices.ContainsFunc(s.QueryPlan, func(line string) bool { return strings.Contains(line, index) })
	})
}

// drain reads the rows that an answer has, whatever their bytes.
func drain(rows plan.Rows, n *plan.Node, nested *plan.Nested) {
	for rows.Next() && !nested.Ended(n, 0) {
		nested.Take(n)
		for i, x := range n.Expand {
			if x.Count || !nested.Ended(x, 0) {
				drain(rows.Expand(i), x, nested)
			}
		}
	}
}

// recorder is a database that writes the statements that it is asked to run, with their query plans, and remembers how
// long they took.
type recorder struct {
	engine.DB
	dialect string
	out     io.Writer
	list    []*recorded
}

type recorded struct {
	plan.ExplainedStatement
	start time.Time
}

// run reads all rows of a plan.
func (r *recorder) run(ctx context.Context, gen *sqltext.Generator, p *plan.Plan) error {
	rows, err := cursor.Open(ctx, r, gen, p)
	if err == nil {
		drain(rows, p.Top, p.Nested())
		err = errors.Join(rows.Err(), rows.Close())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case engine.IsTimeout(err): // MariaDB looks at the clock by itself
		return context.DeadlineExceeded
	case err != nil:
		return fmt.Errorf("run the plan: %w", err)
	}
	return nil
}

func (r *recorder) statements() []plan.ExplainedStatement {
	list := make([]plan.ExplainedStatement, len(r.list))
	for i, st := range r.list {
		list[i] = st.ExplainedStatement
	}
	return list
}

// Begin takes a connection for statements that are recorded.
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

// Query writes the statement, then its query plan, and then runs it.
func (t *recordedTx) Query(query string, args []any) (engine.Cursor, error) {
	st := &recorded{ExplainedStatement: plan.ExplainedStatement{SQL: query, Params: len(args), Stopped: true}, start: time.Now()}
	t.r.list = append(t.r.list, st)
	if _, err := fmt.Fprintf(t.r.out, "statement %d, %d parameters\n  %s\n", len(t.r.list), len(args), query); err != nil {
		return nil, err
	}
	err := t.queryPlan(st, args)
	st.start = time.Now()
	if err != nil {
		return nil, fmt.Errorf("ask for the query plan: %w", err)
	}
	cur, err := t.Tx.Query(query, args)
	st.Elapsed = time.Since(st.start)
	if err != nil {
		return nil, err
	}
	st.Stopped = false
	return &recordedCursor{cur, st}, nil
}

// queryPlan asks the database how it would execute a statement: EXPLAIN, a line for each row or line of its answer.
func (t *recordedTx) queryPlan(st *recorded, args []any) error {
	prefix, width := "EXPLAIN ", 1
	switch t.r.dialect {
	case "sqlite":
		prefix, width = "EXPLAIN QUERY PLAN ", 4
	case "mysql":
		prefix = "EXPLAIN FORMAT=JSON "
	}
	err := engine.Each(t.Tx, width, func(cells []engine.Cell) bool {
		st.QueryPlan = append(st.QueryPlan, strings.Split(string(cells[width-1].Bytes), "\n")...)
		return true
	}, prefix+st.SQL, args...)
	for _, line := range st.QueryPlan {
		if _, failed := fmt.Fprintf(t.r.out, "    %s\n", line); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

type recordedCursor struct {
	engine.Cursor
	st *recorded
}

// Next counts the rows and measures the time up to each of them.
func (c *recordedCursor) Next() (bool, error) {
	ok, err := c.Cursor.Next()
	if ok {
		c.st.Rows++
	}
	c.st.Elapsed, c.st.Stopped = time.Since(c.st.start), err != nil
	return ok, err
}

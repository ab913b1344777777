package sqlsource

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// transaction applies changes in a transaction of the database. See write.Transaction.
type transaction struct {
	ctx    context.Context
	source *Source
	tx     engine.WriteTx
	reader *cursor.Reader
	// since is when it was to begin, tries how often that has failed; begun reports that something was done in it.
	since time.Time
	tries int
	begun bool
	// applied reports whether a change was made.
	applied bool
	// ended reports that nothing more can be done: the transaction was committed or closed, or a change has failed.
	ended bool
}

// errEnded is the fault of a call behind the end of a transaction.
var errEnded = errors.New("the transaction has ended")

// Fits reports why a column cannot hold a value as it is. See odata.Writable.
func (s *Source) Fits(c *write.Change, values []write.Assignment) error {
	if path := s.gen.Unfit(c, values); path != nil {
		return &write.Refusal{Kind: write.Unfit, Properties: [][]*edm.Property{path}}
	}
	return nil
}

// Begin starts a transaction that writes. What finds no database waits for it as Open does. See odata.Writable.
func (s *Source) Begin(ctx context.Context) (write.Transaction, error) {
	t := &transaction{ctx: ctx, source: s, since: time.Now()}
	if err := t.begin(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *transaction) begin() error {
	for {
		tx, err := t.source.db.BeginWrite(t.ctx)
		if err == nil {
			t.tx, t.reader = tx, t.source.reader.Within(tx)
			return nil
		}
		if !t.again(err) {
			return t.source.reader.Fault(t.ctx, err)
		}
	}
}

// again reports whether it is worth trying once more to begin, after a pause where the database is away.
func (t *transaction) again(err error) bool {
	s := t.source
	t.tries++
	if t.ctx.Err() == nil && engine.IsLost(err) && t.tries < maxTries {
		return true
	}
	if t.ctx.Err() == nil && engine.IsAway(err) && s.wait != nil && time.Now().Before(t.since.Add(s.wait(t.ctx))) && pause(t.ctx) {
		return true
	}
	if s.waited != nil && (engine.IsAway(err) || engine.IsUnreachable(err)) {
		s.waited(t.ctx, t.since)
	}
	return false
}

// opening does work, which may be the first of the transaction: as long as nothing was done, one on another connection is as good.
func (t *transaction) opening(work func() error) error {
	err := work()
	for err != nil && !t.begun && (engine.IsLost(err) || engine.IsAway(err)) && t.again(err) {
		_ = t.tx.Close() // which nobody can use
		if err := t.begin(); err != nil {
			return err
		}
		err = work()
	}
	t.begun = t.begun || err == nil
	return err
}

// Open reads rows in the transaction.
func (t *transaction) Open(p *plan.Plan) (rows plan.Rows, err error) {
	if t.ended {
		return nil, errEnded
	}
	err = t.opening(func() error {
		rows, err = t.reader.Open(t.ctx, p)
		return err
	})
	return rows, err
}

// Apply makes the first of some changes, or as many of them as one statement can.
func (t *transaction) Apply(list []*write.Change) (rows plan.Rows, n int, err error) {
	if t.ended {
		return nil, 0, errEnded
	}
	c := list[0]
	n = t.reader.Gen.AtOnce(list)
	err = t.opening(func() error {
		if n > 1 {
			rows, err = t.createAll(list[:n])
		} else {
			rows, err = t.apply(c)
		}
		return err
	})
	if err != nil && n == 1 {
		err = t.first(c, t.refusal(c, err))
	}
	if err != nil {
		var known *write.Refusal
		t.ended = !errors.As(err, &known) || known.Kind != write.RowNotFound
		return nil, 0, err
	}
	t.applied = true
	return rows, n, nil
}

// createAll makes creations with one After by one statement.
func (t *transaction) createAll(list []*write.Change) (plan.Rows, error) {
	oneOf := func(cause error) error { return &write.Refusal{Kind: write.OneOfSeveral, Cause: cause} }
	for _, c := range list {
		if refusal := c.Judge(nil); refusal != nil {
			return nil, oneOf(refusal)
		}
	}
	s := t.reader.Gen.Insert(list, sqltext.ReturnRow)
	if s.SQL == "" {
		return nil, oneOf(errUnfit())
	}
	rows, err := t.reader.Several(t.ctx, t.tx, list[0].After.Plan.Top, s, 1, len(list))
	switch {
	case err != nil && t.ctx.Err() == nil && engine.BreachOf(err).Kind != engine.NotBreached:
		return nil, oneOf(err)
	case err != nil:
		return nil, t.refusal(list[0], err)
	case len(rows) != len(list):
		return nil, oneOf(errPassedOver())
	}
	for i, c := range list {
		if refusal := c.Verify(rows[i].Allowed()); refusal != nil {
			return nil, oneOf(refusal)
		}
	}
	return &rows[0], nil
}

func (t *transaction) apply(c *write.Change) (plan.Rows, error) {
	if trials := t.reader.Gen.Trials(c); len(trials) > 0 {
		if err := t.try(c, trials); err != nil {
			return nil, err
		}
	}
	switch c.Kind {
	case write.Create:
		return t.create(c)
	case write.Link, write.Unlink:
		return nil, t.link(c)
	}
	gen, err := t.reader.ForKey(t.ctx, c.Before.Plan, c.Key)
	if err != nil {
		return nil, err
	}
	if version, ok := known(c); ok {
		if rows, done, err := t.write(gen, c, version); err != nil || done {
			return rows, err
		}
	}
	if err := t.judge(gen, c); err != nil {
		return nil, err
	}
	rows, done, err := t.write(gen, c, nil)
	if err != nil || done {
		return rows, err
	}
	if err := t.matched(gen, c); err != nil {
		return nil, err
	}
	return t.after(c, c.Key)
}

// matched decides on a statement that has changed no row of those that were judged. Where the driver counts changed rows instead of matched ones, MariaDB does not
// count a row that has the values already: the statement then runs again and notes in a variable whether a row meets its conditions.
func (t *transaction) matched(gen *sqltext.Generator, c *write.Change) error {
	var conflict error = &write.Refusal{Kind: write.Conflict}
	if t.source.dialect == "sqlite" || gen.Alone(c) { // nobody can have changed what was judged
		conflict = errPassedOver()
	}
	if t.source.dialect != "mysql" || c.Kind != write.Update || c.Version != nil { // a version always changes
		return conflict
	}
	if err := t.run(sqltext.Statement{SQL: "SELECT @vestibule_matched := 0"}); err != nil {
		return err
	}
	s := gen.Update(c, nil, sqltext.NoteMatch)
	if _, err := t.tx.Exec(s.SQL, s.Args); err != nil {
		return err
	}
	noted := false
	err := engine.Each(t.tx, 1, func(cells []engine.Cell) bool {
		noted = cells[0].Int == 1
		return false
	}, "SELECT @vestibule_matched")
	if err == nil && !noted {
		return conflict
	}
	return err
}

// try asks the database whether columns keep the values of a change, if there is a row to be changed.
func (t *transaction) try(c *write.Change, trials []sqltext.Trial) error {
	if c.Kind == write.Update {
		gen, err := t.reader.For(t.ctx, c.Before.Plan.At(c.Key))
		if err == nil {
			err = t.judge(gen, c)
		}
		if refusal, ok := errors.AsType[*write.Refusal](err); err != nil && (!ok || refusal.Kind == write.RowNotFound) {
			return err
		}
	}
	for _, trial := range trials {
		kept := false
		err := engine.Each(t.tx, 1, func(cells []engine.Cell) bool {
			kept = cells[0].Int != 0
			return false
		}, trial.Statement.SQL, trial.Statement.Args...)
		if engine.BreachOf(err).Kind == engine.OfValue || engine.IsMalformed(err) || err == nil && !kept {
			return &write.Refusal{Kind: write.Unfit, Properties: [][]*edm.Property{trial.Path}, Cause: err}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// known returns what the version of the row must be if a change needs no look at the row before: nil for anything.
func known(c *write.Change) (version *int64, ok bool) {
	switch {
	case c.Match == nil, c.Refused, c.Invalid, c.Kind == write.Update && len(c.Values) == 0 && c.Version == nil:
		return nil, false
	case c.Match.Any:
		return nil, true
	case c.Set.Write.Version == nil, len(c.Match.Tags) != 1:
		return nil, false
	}
	n, err := strconv.ParseInt(c.Match.Tags[0], 10, 64)
	return &n, err == nil && strconv.FormatInt(n, 10) == c.Match.Tags[0]
}

// judge reads the row of a change, locks it, and decides.
func (t *transaction) judge(gen *sqltext.Generator, c *write.Change) error {
	values, err := t.locked(gen, c.Before.Plan.At(c.Key))
	if err != nil {
		return err
	}
	if refusal := c.Judge(values); refusal != nil {
		return refusal
	}
	return nil
}

// locked reads the row that a plan names, and locks it; nil where there is none.
func (t *transaction) locked(gen *sqltext.Generator, p *plan.Plan) ([]plan.Value, error) {
	locks := gen.Locks(p.Top)
	if !locks {
		if err := t.run(gen.LockRow(p.Top)); err != nil {
			return nil, err
		}
	}
	row, err := t.reader.Single(t.ctx, t.tx, p.Top, gen.Row(p.Top, locks), 0)
	if err != nil || row == nil {
		return nil, err
	}
	return row.Row(), nil
}

// run runs a statement whose rows nobody reads.
func (t *transaction) run(s sqltext.Statement) error {
	return engine.Each(t.tx, 1, func([]engine.Cell) bool { return true }, s.SQL, s.Args...)
}

// write updates or deletes the row of a change; done reports whether there was one.
func (t *transaction) write(gen *sqltext.Generator, c *write.Change, version *int64) (rows plan.Rows, done bool, err error) {
	switch {
	case c.Kind == write.Delete:
		s := gen.Delete(c, version)
		n, err := t.tx.Exec(s.SQL, s.Args)
		return nil, n > 0, err
	case len(c.Values) == 0 && c.Version == nil:
		rows, err = t.after(c, c.Key)
		return rows, true, err
	case gen.Returns(c):
		return t.returned(c, gen.Update(c, version, sqltext.ReturnRow))
	}
	s := gen.Update(c, version, sqltext.ReturnNothing)
	if s.SQL == "" {
		return nil, false, errUnfit()
	}
	n, err := t.tx.Exec(s.SQL, s.Args)
	if err != nil || n == 0 {
		return nil, false, err
	}
	rows, err = t.after(c, c.Key)
	return rows, true, err
}

// errUnfit is the refusal of values that Fits refuses, too.
func errUnfit() error { return &write.Refusal{Kind: write.Unfit} }

// returned runs a statement that returns the row as it has written it; done reports whether there was one.
func (t *transaction) returned(c *write.Change, s sqltext.Statement) (rows plan.Rows, done bool, err error) {
	if s.SQL == "" {
		return nil, false, errUnfit()
	}
	row, err := t.reader.Single(t.ctx, t.tx, c.After.Plan.Top, s, 1)
	if err != nil || row == nil {
		return nil, false, err
	}
	if refusal := c.Verify(row.Allowed()); refusal != nil {
		return nil, true, refusal
	}
	return row, true, nil
}

func (t *transaction) create(c *write.Change) (plan.Rows, error) {
	if refusal := c.Judge(nil); refusal != nil {
		return nil, refusal
	}
	gen := t.reader.Gen
	if gen.Returns(c) {
		rows, done, err := t.returned(c, gen.Insert([]*write.Change{c}, sqltext.ReturnRow))
		if err == nil && !done {
			err = errPassedOver()
		}
		return rows, err
	}
	if !gen.ReturnsKeys() {
		return t.createByNumber(gen, c)
	}
	node, s := gen.KeyNode(c), gen.Insert([]*write.Change{c}, sqltext.ReturnKey)
	if s.SQL == "" {
		return nil, errUnfit()
	}
	row, err := t.reader.Single(t.ctx, t.tx, node, s, 0)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, errPassedOver()
	}
	return t.after(c, node.KeyOf(row.Row()))
}

// createByNumber adds a row where no statement returns it: the key is among the values, but for a number that the database counts.
func (t *transaction) createByNumber(gen *sqltext.Generator, c *write.Change) (plan.Rows, error) {
	s := gen.Insert([]*write.Change{c}, sqltext.ReturnNothing)
	if s.SQL == "" {
		return nil, errUnfit()
	}
	if n, err := t.tx.Exec(s.SQL, s.Args); err != nil || n == 0 {
		return nil, cmp.Or(err, errPassedOver())
	}
	number := plan.Value{Null: true}
	err := engine.Each(t.tx, 1, func(cells []engine.Cell) bool {
		number = plan.Value{Int: cells[0].Int}
		return false
	}, "SELECT LAST_INSERT_ID()")
	if err != nil {
		return nil, err
	}
	key := make([]plan.Value, len(c.Set.Type.Key))
	for i, p := range c.Set.Type.Key {
		key[i] = number
		for j := range c.Values {
			if len(c.Values[j].Path) == 1 && c.Values[j].Path[0] == p {
				key[i] = c.Values[j].Value
			}
		}
	}
	return t.after(c, key)
}

// errPassedOver is the refusal of a change that a trigger or a rule of the database has passed over without an error.
func errPassedOver() error {
	return &write.Refusal{Kind: write.InvalidValue, Cause: errors.New("the database has passed over the row")}
}

// after reads the row of a change as it is now, and decides whether it may stay.
func (t *transaction) after(c *write.Change, key []plan.Value) (plan.Rows, error) {
	gen, err := t.reader.ForKey(t.ctx, c.After.Plan, key)
	if err != nil {
		return nil, err
	}
	p := c.After.Plan.At(key)
	var rows plan.Rows
	var values []plan.Value
	if len(p.Top.Expand) == 0 {
		row, err := t.reader.Single(t.ctx, t.tx, p.Top, gen.After(c, p), 0)
		if err != nil {
			return nil, err
		}
		if row != nil {
			rows, values = row, row.Row()
		}
	} else {
		if rows, err = t.reader.Open(t.ctx, p); err != nil {
			return nil, err
		}
		if rows.Next() {
			values = rows.Row()
		}
		if err := rows.Err(); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
	}
	if refusal := c.Verify(values); refusal != nil {
		if rows != nil {
			return nil, errors.Join(refusal, rows.Close())
		}
		return nil, refusal
	}
	return rows, nil
}

// Commit ends the transaction.
func (t *transaction) Commit() error {
	if t.ended {
		return errEnded
	}
	t.ended = true
	if t.ctx.Err() != nil { // nothing was sent
		return t.reader.Fault(t.ctx, errors.Join(t.ctx.Err(), t.Close()))
	}
	err := t.tx.Commit()
	if err == nil {
		_ = t.Close() // it lasts, whatever becomes of the connection
		return nil
	}
	switch refusal := t.breach(nil, err); {
	case refusal != nil:
		err = refusal
	case engine.IsUncertain(err):
		err = &write.Refusal{Kind: write.OutcomeUnknown, Cause: err}
	case engine.IsTimeout(err): // it was undone, and would be once more
		err = t.reader.Fault(t.ctx, err)
	case engine.IsUndone(err) || t.source.dialect == "sqlite": // whose lock may be out of reach
		err = &write.Refusal{Kind: write.Conflict, Cause: err}
	default:
		err = t.reader.Fault(t.ctx, err)
	}
	_ = t.Close()
	return err
}

// Close undoes what was not committed.
func (t *transaction) Close() error {
	t.ended = true
	return t.tx.Close()
}

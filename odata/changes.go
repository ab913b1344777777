package odata

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// changes is the transaction of one request that writes, or of a group of them, which begins with the first of them. It is
// for one goroutine.
type changes struct {
	stage  *writing
	caller Caller
	// request is the context of the HTTP request.
	request context.Context
	tx      write.Transaction
	ctx     context.Context
	clock   *workClock
	leave   func()
	// written are the rows that were changed so far.
	written []Written
	// last is how the last entity was answered; the requests of a group have much in common.
	last entityAnswer
	// undone reports that the database has undone the transaction, which is to be tried again.
	undone bool
	// overtaken reports that the transaction was undone once because a row was created between the look for it and its own creation.
	overtaken bool
	// grouped reports that the transaction is that of a group. foresight looks ahead at its changes, before it begins; nil once it has.
	grouped   bool
	foresight *asking
	// moves is how often rows were others in the transaction than rules had seen. unasked reports that rules were not asked, as the
	// transaction is certain to fail; if it has then made a change that rules have to judge, which unjudged reports, it is never committed.
	moves             int
	unasked, unjudged bool
	// singly reports that changes are made one by one: the source has refused some that were made at once, and not said which.
	singly bool
	// tries counts the transactions, the one that is open included.
	tries int
	// once makes the requests have their effect once; nil where their client does not repeat them. refused is why it cannot be.
	once    *once
	refused error
}

// entityAnswer is all that the form of the answer to a request of a group depends on, and what writes it.
type entityAnswer struct {
	answerForm
	encoder     *payload.Encoder
	contentType string
	// header are the headers of an answer without a body in a group; nil until the first of them.
	header http.Header
	// written is the writer of entities; nil until the first of them.
	written *payload.Entities
}

type answerForm struct {
	plan            *plan.Plan
	format          format
	v401, omitNulls bool
}

// answerOf returns what writes an answer, which is that of the last one if nothing but the row is another one.
func (c *changes) answerOf(r *writer, p *plan.Plan) *entityAnswer {
	form := answerForm{p, r.format, r.q.v401, r.q.prefer.OmitNulls}
	if form != c.last.answerForm || len(p.Top.Expand) > 0 {
		c.last = entityAnswer{answerForm: form, encoder: r.encoder(), contentType: r.format.ContentType()}
	}
	return &c.last
}

// entities returns the writer of the entities that the plan reads.
func (a *entityAnswer) entities() *payload.Entities {
	if a.written == nil {
		a.written = a.encoder.Entities(a.plan)
	}
	return a.written
}

// begun reports whether there is a transaction, in which the requests of the group read, too.
func (c *changes) begun() bool { return c != nil && c.tx != nil }

// begin waits for the caller's turn and starts the transaction, unless it has begun.
func (c *changes) begin(q *request) error {
	if c.tx != nil {
		return nil
	}
	leave, err := c.stage.answers.admit(q)
	if err != nil {
		return err
	}
	q.timing.admitted = c.stage.opts.Now()
	ctx, clock := q.left.start(q.ctx)
	tx, err := c.stage.source.Begin(ctx)
	if err != nil {
		leave()
		err = faultOf(ctx, err)
		clock.stop()
		return err
	}
	c.tx, c.ctx, c.clock, c.leave, c.caller, c.request = tx, ctx, clock, leave, q.caller, q.ctx
	return c.claim()
}

// read opens the rows of a plan in the transaction.
func (c *changes) read(q *request, p *plan.Plan) (*opened, error) {
	open := func(_ context.Context, p *plan.Plan) (plan.Rows, error) { return c.tx.Open(p) }
	p, err := located(c.ctx, open, p)
	if err != nil {
		return nil, c.fault(err)
	}
	rows, err := c.tx.Open(p)
	if err != nil {
		return nil, c.fault(err)
	}
	rows = bounded(p.Top, rows)
	q.timing.opened = c.stage.opts.Now()
	_, clock := (&allowance{work: math.MaxInt64}).start(c.ctx) // that of the transaction goes on
	return &opened{ctx: c.ctx, rows: rows, held: rows, clock: clock}, nil
}

// firstOf returns a copy of the first row; nil where there is none.
func firstOf(rows plan.Rows) ([]plan.Value, error) {
	if !rows.Next() {
		return nil, rows.Err()
	}
	return copied(rows.Row()), nil
}

// copied returns a copy of a row.
func copied(row []plan.Value) []plan.Value {
	out := make([]plan.Value, len(row))
	for i, v := range row {
		v.Bytes = append([]byte(nil), v.Bytes...)
		out[i] = v
	}
	return out
}

// fault makes the answer for an error of the transaction; errAgain if the transaction is to be tried again.
func (c *changes) fault(err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	r, ok := errors.AsType[*write.Refusal](err)
	if ok && r.Kind == write.OneOfSeveral && !c.singly {
		c.singly, c.undone = true, true
		return errAgain
	}
	if again := ok && (r.Kind == write.Conflict || r.Kind == write.OutcomeUnknown && c.once != nil); again && c.tries < maxTries && c.ctx.Err() == nil {
		c.undone = true
		return errAgain
	}
	return faultOf(c.ctx, err)
}

// commit ends the transaction and tells of the rows that were changed.
func (c *changes) commit() error {
	if c.tx == nil {
		return nil
	}
	if c.unjudged {
		return c.moved(c.request, nil)
	}
	if c.once != nil {
		if c.once.known { // nothing was written
			c.close()
			return nil
		}
		if err := c.keep(); err != nil {
			return err
		}
	}
	if err := c.tx.Commit(); err != nil {
		return c.fault(err)
	}
	written, caller, ctx := c.written, c.caller, c.request
	c.close()
	if tell := c.stage.opts.Written; tell != nil && len(written) > 0 {
		tell(ctx, caller, written)
	}
	return nil
}

// close undoes what was not committed. The next begin starts anew.
func (c *changes) close() {
	if c.tx == nil {
		return
	}
	_ = c.tx.Close() // what is undone cannot be lost
	c.clock.stop()
	c.leave()
	c.tx, c.written = nil, nil
}

// maxTries is how often a transaction is tried that the database undoes for the sake of others.
const maxTries = 4

// errAgain ends a try of a transaction that is to be tried again.
var errAgain = errors.New("the database undid the transaction for the sake of another one")

// repeat runs work, which is one transaction, and closes it, until the database has not undone it.
func (c *changes) repeat(work func() error) error {
	defer c.close() // a panic leaves no transaction open, either
	for {
		c.tries++
		c.undone, c.unasked, c.unjudged = false, false, false
		err := work()
		c.close()
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

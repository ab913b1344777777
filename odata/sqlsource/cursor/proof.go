package cursor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// A column of SQLite may hold values of other types than its own. A look at the data, one pass over the column or a seek in
// its index, finds out for one data version that it does not. Statements then name the column itself, and use its indexes;
// otherwise they read a cleaned expression. A commit makes another data version, for which the next request looks again.

// A request waits for a look for lookWait, and goes on with the cleaned expression while the look does, for lookTime at most.
// One look runs at a time. A look takes a third of the time of the statement that it makes faster, which would sort all rows.
// A column rests cleanRest times as long as its last look took, and dirtyRest times if the look was in vain, which bounds what
// looks take to a fifth and to a twentieth of a processor. Where the last look took shortLook at most, since an index answers
// it, a request makes the look itself, in the version that it reads: while others commit, a version has no second request.
const (
	lookWait  = time.Second
	lookTime  = 10 * time.Second
	cleanRest = 4
	dirtyRest = 19
	shortLook = 10 * time.Millisecond
)

// proofs are the columns that are assumed to be clean. Reader.mu protects them.
type proofs struct {
	// gen assumes what clean has; nil for none.
	gen   *sqltext.Generator
	clean map[*sqltext.Column]bool
	// last are the looks that were made at columns.
	last map[*sqltext.Column]lastLook
	// looking is closed when the look that began at since has ended; nil while there is none.
	looking chan struct{}
	since   time.Time
}

// lastLook is how long the last look at a column took, and when the column may be looked at again.
type lastLook struct {
	took time.Duration
	next time.Time
}

// looks reports whether the data can be looked at for one version of them, or for one request.
func (o *Reader) looks() bool { return (o.Marks != nil || o.Seeks) && !o.Stamps }

// Proved returns the Generator that a plan would be carried out with at this moment.
func (o *Reader) Proved(ctx context.Context, p *plan.Plan) (*sqltext.Generator, error) {
	if !o.looks() {
		return o.Gen, nil
	}
	tx, err := o.DB.Begin(ctx, engine.Need{Snapshot: true})
	if err != nil {
		return nil, err
	}
	tx, gen, err := o.proved(ctx, p, tx, engine.Need{Snapshot: true})
	if tx != nil {
		err = errors.Join(err, tx.Close())
	}
	return gen, err
}

// proved returns the Generator for a plan in the state of the data that a transaction reads. If a look is due it closes the
// transaction, since a look takes a connection, and begins another one, in which it makes the short looks. The
// transaction is nil after an error.
func (o *Reader) proved(ctx context.Context, p *plan.Plan, tx engine.Tx, need engine.Need) (engine.Tx, *sqltext.Generator, error) {
	doubts := o.doubts(p)
	if len(doubts) == 0 {
		return tx, o.Gen, nil
	}
	clean, due := o.known(doubts, tx.Version())
	if len(due) == 0 {
		return tx, o.assuming(doubts, clean), nil
	}
	if err := tx.Close(); err != nil {
		return nil, nil, err
	}
	if long := slices.DeleteFunc(slices.Clone(due), func(d sqltext.Doubt) bool { return d.Seek }); len(long) > 0 {
		o.look(ctx, long)
	}
	need.Snapshot, need.Version = true, false // the looks are statements, too
	tx, err := o.DB.Begin(ctx, need)
	if err != nil {
		return nil, nil, err
	}
	clean, due = o.known(doubts, tx.Version())
	for _, d := range due {
		if !d.Seek {
			continue
		}
		found, err := o.foundBy(tx, d)
		if err != nil {
			return nil, nil, errors.Join(err, tx.Close())
		}
		clean[d.Column] = found == 0
		if o.Marks != nil && tx.Version() != "" {
			o.Marks.SetCount(d.Look, tx.Version(), found)
		}
	}
	return tx, o.assuming(doubts, clean), nil
}

// doubts lists the columns of a plan that may have to be looked at; see Generator.Doubts.
func (o *Reader) doubts(p *plan.Plan) []sqltext.Doubt {
	if p.Prepared != nil {
		for i := range p.Prepared {
			if was, ok := p.Prepared[i].Load().(prepared); ok {
				return was.doubts
			}
		}
	}
	return o.Gen.Doubts(p.Top)
}

// known returns the columns that are clean in a version of the data, and those that a look is due for. Seek is true of
// a short look.
func (o *Reader) known(doubts []sqltext.Doubt, version string) (clean map[*sqltext.Column]bool, due []sqltext.Doubt) {
	clean = map[*sqltext.Column]bool{}
	o.mu.Lock()
	defer o.mu.Unlock()
	wait := o.proofs.looking == nil || time.Since(o.proofs.since) < lookWait
	for _, d := range doubts {
		if d.Look == "" {
			continue
		}
		found, known, last := int64(0), false, o.proofs.last[d.Column]
		d.Seek = d.Seek || last.took > 0 && last.took < shortLook
		if o.Marks != nil && version != "" {
			found, known = o.Marks.Count(d.Look, version)
		}
		switch {
		case known:
			clean[d.Column] = found == 0
		case d.Seek:
			due = append(due, d)
		case o.Marks == nil || version == "": // nothing to remember the outcome by
		case wait && !time.Now().Before(last.next):
			due = append(due, d)
		}
	}
	return clean, due
}

// assuming returns the Generator that assumes of the columns in doubt that those in clean are, and of others what was found
// last: no statement of the plan names these.
func (o *Reader) assuming(doubts []sqltext.Doubt, clean map[*sqltext.Column]bool) *sqltext.Generator {
	o.mu.Lock()
	defer o.mu.Unlock()
	var next map[*sqltext.Column]bool
	for _, d := range doubts {
		if o.proofs.clean[d.Column] == clean[d.Column] {
			continue
		}
		if next == nil {
			if next = maps.Clone(o.proofs.clean); next == nil {
				next = map[*sqltext.Column]bool{}
			}
		}
		next[d.Column] = clean[d.Column]
	}
	if next != nil {
		o.proofs.clean, o.proofs.gen = next, o.Gen.Assuming(next)
	}
	if o.proofs.gen == nil {
		return o.Gen
	}
	return o.proofs.gen
}

// look begins a look at columns, unless one is running, and waits for the one that runs.
func (o *Reader) look(ctx context.Context, due []sqltext.Doubt) {
	o.mu.Lock()
	if o.proofs.looking == nil {
		o.proofs.looking, o.proofs.since = make(chan struct{}), time.Now()
		go o.lookAtAll(context.WithoutCancel(ctx), due, o.proofs.looking)
	}
	ended, left := o.proofs.looking, lookWait-time.Since(o.proofs.since)
	o.mu.Unlock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lookAtAll looks at columns, and remembers what it found for the version of the data that it saw. A look that took too long
// has found nothing out.
func (o *Reader) lookAtAll(ctx context.Context, due []sqltext.Doubt, ended chan struct{}) {
	defer close(ended)
	for _, d := range due {
		if version, found, err := o.lookAt(ctx, d); err == nil {
			o.Marks.SetCount(d.Look, version, found)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.proofs.looking = nil
}

func (o *Reader) lookAt(ctx context.Context, d sqltext.Doubt) (version string, found int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	tx, err := o.DB.Begin(ctx, engine.Need{Snapshot: true, Rows: plan.NoLimit})
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	found, err = o.foundBy(tx, d)
	return tx.Version(), found, err
}

// foundBy makes a look, and remembers how long it took: it returns 1 if the column holds what is none of its type.
func (o *Reader) foundBy(tx engine.Tx, d sqltext.Doubt) (found int64, err error) {
	since := time.Now()
	err = engine.Each(tx, 1, func([]engine.Cell) bool {
		found = 1
		return false
	}, d.Look)
	took, rest := time.Since(since), time.Duration(cleanRest)
	if err != nil || found > 0 {
		rest = dirtyRest
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.proofs.last == nil {
		o.proofs.last = map[*sqltext.Column]lastLook{}
	}
	o.proofs.last[d.Column] = lastLook{took, time.Now().Add(rest * took)}
	return found, err
}

package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Worker sends what is in the outbox. Any number of workers, in any number of
// hosts, may share one.
type Worker struct {
	o         Options
	sender    Sender
	templates *Templates
	from      string
	kick      chan struct{}
	slots     chan struct{} // one token per mail under way

	blind bool // the outbox could not be read; for the goroutine of Run alone
}

// NewWorker checks the options and loads the templates. The error names every
// fault of the configuration and how to mend it.
func NewWorker(o Options) (*Worker, error) {
	if o.Outbox == nil || o.Resolve == nil {
		return nil, errors.New("mail worker needs an outbox and a resolve function")
	}
	o = o.withDefaults()
	from, fromErr := o.Config.sender()
	templates, tmplErr := LoadTemplates(o.Config.Templates)
	sender, sendErr := o.Sender, error(nil)
	if sender == nil {
		sender, sendErr = NewSender(o.Config, o.Log)
	}
	if err := errors.Join(fromErr, sendErr, tmplErr); err != nil {
		return nil, err
	}
	return &Worker{
		o: o, sender: sender, templates: templates, from: from,
		kick: make(chan struct{}, 1), slots: make(chan struct{}, o.Parallel),
	}, nil
}

// Kick makes the worker look into the outbox at once and a few times more
// within the next seconds, so it may be called before the transaction that
// writes the mail has committed. It never blocks.
func (w *Worker) Kick() {
	select {
	case w.kick <- struct{}{}:
	default: // a look is pending already
	}
}

// Run sends mail until ctx ends. Then it leases nothing more, gives what is under
// way the grace, gives back what was not sent in it, and returns nil. It is called
// once.
func (w *Worker) Run(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var under sync.WaitGroup
	var soon []time.Duration
	for {
		select {
		case <-ctx.Done():
			w.drain(&under, stop)
			return nil
		case w.slots <- struct{}{}:
		}
		item, ok := w.lease(ctx)
		if !ok {
			<-w.slots
			soon = w.idle(ctx, soon)
			continue
		}
		under.Go(func() {
			defer func() { <-w.slots }()
			w.work(working, item)
		})
	}
}

// drain waits for the mails that are under way. After the grace it cancels them
// and waits until they have returned.
func (w *Worker) drain(under *sync.WaitGroup, stop context.CancelFunc) {
	timer := time.AfterFunc(w.o.Grace, stop)
	defer timer.Stop()
	under.Wait()
}

// idle waits for a kick, for the first of the moments in soon, or, when soon is
// empty, for the next poll. It returns the moments that are still to come.
func (w *Worker) idle(ctx context.Context, soon []time.Duration) []time.Duration {
	wait := w.o.Poll
	if len(soon) > 0 {
		wait, soon = soon[0], soon[1:]
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.kick:
		return afterKick()
	case <-timer.C:
	}
	return soon
}

// afterKick returns when to look again after a kick that found nothing: a kick
// from within a transaction comes before the mail is visible.
func afterKick() []time.Duration {
	return []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}
}

func (w *Worker) lease(ctx context.Context) (Item, bool) {
	if ctx.Err() != nil {
		return Item{}, false
	}
	now := w.o.Now()
	// Cut off in between, it might have taken a mail that nobody knows of then.
	leasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.o.SendTimeout)
	defer cancel()
	item, err := w.o.Outbox.LeaseMail(leasing, now, now.Add(2*w.o.SendTimeout+time.Minute))
	if err != nil && ctx.Err() != nil {
		return Item{}, false // the host is stopping
	}
	w.outboxRead(err)
	return item, err == nil && item.ID != ""
}

// work brings one item to its outcome.
func (w *Worker) work(ctx context.Context, item Item) {
	outcome, err := w.attempt(ctx, item)
	log := w.o.Log.With("purpose", item.Purpose, "user", item.UserID, "attempt", item.Attempt)
	reason := ""
	if err != nil {
		reason = redact(err.Error())
	}
	// The outcome is written down even when the host is stopping, which bounds the time for
	// it, and after a while in which the database was away: until the lease ends, nobody
	// else takes the mail.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.o.SendTimeout+time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(w.o.SendTimeout, cancel) })()
	switch now := w.o.Now(); outcome {
	case Sent, Dropped:
		err = note(done, func() error { return w.o.Outbox.MailDone(done, item.ID) })
	case Retried:
		next := now.Add(pause(item.Attempt, w.o.Jitter()))
		log.Warn("mail not sent, to be repeated", "error", reason, "next", next.UTC().Format(time.RFC3339))
		err = note(done, func() error { return w.o.Outbox.RetryMail(done, item.ID, item.Attempt, next, reason) })
	case Returned:
		log.Info("mail given back, because the host stops")
		err = note(done, func() error { return w.o.Outbox.RetryMail(done, item.ID, item.Attempt, now, reason) })
	case Dead:
		log.Error("mail given up: mend the cause; the person can ask again", "error", reason)
		err = note(done, func() error { return w.o.Outbox.BuryMail(done, item.ID, item.Attempt, now, reason) })
	}
	if err != nil {
		log.Error("mail's outcome not noted, another attempt will follow", "outcome", outcome, "error", redact(err.Error()))
	}
	w.o.Observe(item.Purpose, outcome)
}

// attempt sends the item's mail, if it is still wanted.
func (w *Worker) attempt(ctx context.Context, item Item) (Outcome, error) {
	if item.UserID == "" {
		return Dropped, nil
	}
	limited, cancel := context.WithTimeout(ctx, w.o.SendTimeout)
	defer cancel()
	err := w.send(limited, item)
	switch {
	case err == nil:
		return Sent, nil
	case ctx.Err() != nil:
		return Returned, err // the grace is over, which says nothing about the mail
	case errors.Is(err, ErrNotWanted):
		return Dropped, nil
	case errors.Is(err, ErrRejected):
		return Dead, err
	}
	if item.Attempt >= w.o.Attempts {
		return Dead, err
	}
	return Retried, err
}

// since is when the mail was asked for.
func (w *Worker) since(item Item) time.Time {
	if item.Created.IsZero() {
		return w.o.Now().UTC()
	}
	return item.Created.UTC()
}

func (w *Worker) send(ctx context.Context, item Item) error {
	letter, err := w.o.Resolve(ctx, item)
	if err != nil {
		return fmt.Errorf("prepare the mail: %w", err)
	}
	content, err := w.templates.Render(item.Purpose, item.Locale, Data{
		App: w.o.App, Host: cmp.Or(letter.Host, w.o.Host), Name: letter.Name, Email: letter.To,
		Link: letter.Link, Minutes: minutes(letter.ValidFor), Logo: letter.Logo, Device: item.Device, At: w.since(item),
	})
	if err != nil {
		return err
	}
	return w.sender.Send(ctx, Message{
		Purpose: item.Purpose, From: w.o.Config.From, To: letter.To,
		Subject: content.Subject, Text: content.Text, HTML: content.HTML, Lang: content.Lang,
		ID: newID(w.from), Date: w.o.Now(),
	})
}

// note writes an outcome down, again and again until ctx ends: if the row stays as it is,
// the person gets the mail twice, or late.
func note(ctx context.Context, write func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := write()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// outboxRead logs when the outbox cannot be read, and when it can be read again.
func (w *Worker) outboxRead(err error) {
	switch {
	case err != nil && !w.blind:
		w.o.Log.Error("mail waits: the outbox cannot be read", "error", redact(err.Error()))
	case err == nil && w.blind:
		w.o.Log.Info("the outbox can be read again")
	}
	w.blind = err != nil
}

// pause returns how long to wait after a failed attempt: 10 s, doubled every
// time up to 15 min, of which a random quarter is taken off, so that what failed
// together does not come back together.
func pause(attempt int, random float64) time.Duration {
	const first, most = 10 * time.Second, 15 * time.Minute
	d := most
	if shift := max(attempt-1, 0); shift < 10 {
		d = min(first<<shift, most)
	}
	return d - time.Duration(random*float64(d)/4)
}

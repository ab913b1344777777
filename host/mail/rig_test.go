package mail_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

// outbox keeps mail in memory by the contract of mail.Outbox. The real one is
// tested where it lives, in host/store.
type outbox struct {
	mu      sync.Mutex
	rows    map[string]*row
	failing error // every call's answer while not nil
	next    int
}

type row struct {
	mail.Item
	due    time.Time
	dead   bool
	reason string
}

func (o *outbox) add(item mail.Item) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil {
		o.rows = map[string]*row{}
	}
	o.next++
	item.ID = strconv.Itoa(o.next)
	o.rows[item.ID] = &row{Item: item}
	return item.ID
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failing = err
}

// row returns a copy, and whether it is there.
func (o *outbox) row(id string) (row, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.rows[id]; r != nil {
		return *r, true
	}
	return row{}, false
}

func (o *outbox) LeaseMail(ctx context.Context, now, until time.Time) (mail.Item, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil {
		return mail.Item{}, ctx.Err() // as a database answers a host that stops
	}
	var due []*row
	for _, r := range o.rows {
		if !r.dead && !r.due.After(now) {
			due = append(due, r)
		}
	}
	if o.failing != nil || len(due) == 0 {
		return mail.Item{}, o.failing
	}
	r := slices.MinFunc(due, func(a, b *row) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.ID, b.ID)) })
	r.due = until
	r.Attempt++
	return r.Item, nil
}

func (o *outbox) MailDone(_ context.Context, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failing == nil {
		delete(o.rows, id)
	}
	return o.failing
}

func (o *outbox) RetryMail(_ context.Context, id string, attempt int, next time.Time, reason string) error {
	return o.settle(id, attempt, func(r *row) { r.due, r.reason = next, reason })
}

func (o *outbox) BuryMail(_ context.Context, id string, attempt int, _ time.Time, reason string) error {
	return o.settle(id, attempt, func(r *row) { r.dead, r.reason = true, reason })
}

func (o *outbox) settle(id string, attempt int, change func(*row)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.rows[id]; r != nil && r.Attempt == attempt && o.failing == nil {
		change(r)
	}
	return o.failing
}

// transport is a Sender that a test writes.
type transport func(ctx context.Context, m mail.Message) error

func (f transport) Send(ctx context.Context, m mail.Message) error { return f(ctx, m) }

const secret = "7Hq3vN0eYxkqg2nB8sWcJmZt5RfLdPa9uOiK1yXoTVE"

// resolve finds everybody but "gone", and mints a token.
func resolve(_ context.Context, item mail.Item) (mail.Letter, error) {
	if item.UserID == "gone" {
		return mail.Letter{}, fmt.Errorf("user %s: %w", item.UserID, mail.ErrNotWanted)
	}
	return mail.Letter{
		To: item.UserID + "@example.com", Name: "Ada", ValidFor: time.Hour,
		Link: "https://shop.example.com/password/reset/" + secret + "?email=ada%40example.com",
	}, nil
}

// rig is a worker with an outbox, a log and a record of outcomes.
type rig struct {
	*mail.Worker
	outbox   *outbox
	outcomes chan mail.Outcome
	log      *logBuffer
	stop     context.CancelFunc
	done     chan error
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a worker until the test ends. It looks into the outbox when kicked
// and when it finds something, not by the clock.
func start(t *testing.T, box *outbox, sender mail.Sender, change func(*mail.Options)) *rig {
	t.Helper()
	r := &rig{outbox: box, outcomes: make(chan mail.Outcome, 100), log: &logBuffer{}, done: make(chan error, 1)}
	o := mail.Options{
		Config: mail.Config{From: "Shop <no-reply@shop.example.com>", Dir: t.TempDir()},
		Outbox: box, Resolve: resolve, Sender: sender, App: "Acme Shop", Host: "shop.example.com",
		Log:     hclog.New(&hclog.LoggerOptions{Output: r.log, Level: hclog.Trace}),
		Now:     noon,
		Observe: func(_ string, outcome mail.Outcome) { r.outcomes <- outcome },
		Poll:    time.Hour,
		Jitter:  func() float64 { return 0 },
	}
	if change != nil {
		change(&o)
	}
	w, err := mail.NewWorker(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Worker = w
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.done <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-r.done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

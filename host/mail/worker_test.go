package mail_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

func reset(user string) mail.Item {
	return mail.Item{UserID: user, Purpose: mail.PasswordReset, Locale: "en"}
}

func TestWorkerSends(t *testing.T) {
	var got []mail.Message
	box := &outbox{}
	box.add(reset("ada"))
	r := start(t, box, transport(func(_ context.Context, m mail.Message) error {
		got = append(got, m)
		return nil
	}), func(o *mail.Options) { o.Parallel = 1 })
	if o := <-r.outcomes; o != mail.Sent {
		t.Fatalf("outcome %s", o)
	}
	box.add(mail.Item{UserID: "bob", Purpose: mail.PasswordChanged, Locale: "de"}) // while it idles
	r.Kick()
	r.Kick() // blocks nobody
	if o := <-r.outcomes; o != mail.Sent {
		t.Fatalf("outcome %s", o)
	}
	if len(got) != 2 || len(box.rows) != 0 {
		t.Fatalf("%d sent, %d left", len(got), len(box.rows))
	}
	if m := got[0]; m.To != "ada@example.com" || !strings.Contains(m.Text, secret) || m.Date != noon() ||
		!strings.HasSuffix(m.ID, "@shop.example.com") || m.Subject != "Set a new password for Acme Shop" {
		t.Errorf("sent %+v", m)
	}
	if m := got[1]; m.To != "bob@example.com" || m.Lang != "de" || m.ID == got[0].ID || !strings.Contains(m.Subject, "geändert") {
		t.Errorf("sent %+v", m)
	}
	if strings.Contains(r.log.String(), secret) {
		t.Error("the token is in the log")
	}
}

// Without Kick, as when another host wrote the mail.
func TestWorkerPolls(t *testing.T) {
	box := &outbox{}
	r := start(t, box, transport(func(context.Context, mail.Message) error { return nil }),
		func(o *mail.Options) { o.Poll = time.Millisecond })
	box.add(reset("ada"))
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
}

func TestAppIsCalledAsItsSender(t *testing.T) {
	for from, want := range map[string]string{
		"Acme <no-reply@example.com>":                "Set a new password for Acme",
		"=?utf-8?q?B=C3=BCro?= <no-reply@a.example>": "Set a new password for Büro",
		"no-reply@example.com":                       "Set a new password for Vestibule",
	} {
		box := &outbox{}
		box.add(reset("ada"))
		subject := make(chan string, 1)
		start(t, box, transport(func(_ context.Context, m mail.Message) error {
			subject <- m.Subject
			return nil
		}), func(o *mail.Options) { o.App, o.Config.From = "", from })
		if got := <-subject; got != want {
			t.Errorf("%s: got %q, want %q", from, got, want)
		}
	}
}

// early is an outbox whose mail becomes visible after the look that a kick led
// to, as when the transaction that wrote it commits late.
type early struct {
	*outbox
	looks int
}

func (e *early) LeaseMail(ctx context.Context, now, until time.Time) (mail.Item, error) {
	item, err := e.outbox.LeaseMail(ctx, now, until)
	if e.looks++; e.looks == 3 { // the first was at the start
		e.add(reset("ada"))
	}
	return item, err
}

func TestKickBeforeTheCommit(t *testing.T) {
	box := &early{outbox: &outbox{}}
	r := start(t, box.outbox, transport(func(context.Context, mail.Message) error { return nil }),
		func(o *mail.Options) { o.Outbox = box })
	r.Kick()
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
}

func TestWorkerDropsWhatNobodyWants(t *testing.T) {
	box := &outbox{}
	box.add(reset("gone"))
	box.add(reset("")) // a decoy, for an address that nobody has
	r := start(t, box, transport(func(context.Context, mail.Message) error {
		t.Error("sent")
		return nil
	}), nil)
	for range 2 {
		if o := <-r.outcomes; o != mail.Dropped {
			t.Errorf("outcome %s", o)
		}
	}
	if len(box.rows) != 0 {
		t.Error("items are left")
	}
}

func TestWorkerRepeatsWithGrowingPauses(t *testing.T) {
	pauses := []time.Duration{10, 20, 40, 80, 160, 320, 640, 900, 900} // seconds
	for random, part := range map[float64]float64{0: 1, 1: 0.75} {
		t.Run(fmt.Sprint(random), func(t *testing.T) {
			box := &outbox{}
			id := box.add(reset("ada"))
			clock := &clock{now: noon()}
			r := start(t, box, transport(func(context.Context, mail.Message) error {
				return errors.New("no route to host")
			}), func(o *mail.Options) {
				o.Now = clock.Now
				o.Jitter = func() float64 { return random }
			})
			for _, pause := range pauses {
				if o := <-r.outcomes; o != mail.Retried {
					t.Fatalf("outcome %s", o)
				}
				got, _ := box.row(id)
				want := time.Duration(float64(pause*time.Second) * part)
				if d := got.due.Sub(clock.Now()); d != want || got.reason != "no route to host" {
					t.Errorf("attempt %d: due after %s, want %s (%s)", got.Attempt, d, want, got.reason)
				}
				clock.set(got.due)
				r.Kick()
			}
			if o := <-r.outcomes; o != mail.Dead {
				t.Fatalf("outcome %s", o)
			}
			if got, ok := box.row(id); !ok || !got.dead {
				t.Errorf("the item is not kept as dead: %+v", got)
			}
			if log := r.log.String(); !strings.Contains(log, "[ERROR] mail given up: mend the cause") || strings.Contains(log, "ada@") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func TestWorkerGivesUpWhatIsRejected(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	r := start(t, box, transport(func(context.Context, mail.Message) error {
		return fmt.Errorf("%w: 550 no such user", mail.ErrRejected)
	}), nil)
	if o := <-r.outcomes; o != mail.Dead {
		t.Errorf("outcome %s", o)
	}
	if got, _ := box.row(id); !got.dead || got.Attempt != 1 {
		t.Errorf("row %+v", got)
	}
}

func TestWorkerRecovers(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	failures := 1
	clock := &clock{now: noon()}
	r := start(t, box, transport(func(context.Context, mail.Message) error {
		if failures--; failures >= 0 {
			return errors.New("down")
		}
		return nil
	}), func(o *mail.Options) { o.Now, o.Parallel = clock.Now, 1 })
	<-r.outcomes
	got, _ := box.row(id)
	clock.set(got.due)
	r.Kick()
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
}

// A server's answer may quote the mail, with its link.
func TestSecretsDoNotReachLogOrOutbox(t *testing.T) {
	for name, words := range map[string]string{
		"link":            "554 blocked: https://shop.example.com/password/reset/" + secret + "?email=a is listed",
		"token":           "554 suspicious: " + secret,
		"encoded":         "554 https%3A%2F%2Fshop.example.com%2Fpassword%2Freset%2F" + secret,
		"over two lines":  "554 no\r\n2026-11-21 [INFO] forged: " + secret,
		"quoted-printabl": "554 =68ttps://shop/" + secret,
	} {
		t.Run(name, func(t *testing.T) {
			box := &outbox{}
			id := box.add(reset("ada"))
			r := start(t, box, transport(func(context.Context, mail.Message) error { return errors.New(words) }), nil)
			<-r.outcomes
			got, _ := box.row(id)
			for where, text := range map[string]string{"outbox": got.reason, "log": r.log.String()} {
				if strings.Contains(text, secret) {
					t.Errorf("the token is in the %s: %s", where, text)
				}
				if !strings.Contains(text, "554") {
					t.Errorf("the %s does not tell what happened: %s", where, text)
				}
			}
			if strings.Contains(got.reason, "\n") || strings.Contains(r.log.String(), "\n2026-11-21 [INFO] forged") {
				t.Errorf("a server forged a log line:\n%s", r.log)
			}
		})
	}
}

func TestReasonsAreBounded(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	r := start(t, box, transport(func(context.Context, mail.Message) error {
		return errors.New(strings.Repeat("ä ", 5000))
	}), nil)
	<-r.outcomes
	if got, _ := box.row(id); len(got.reason) > 500 || !strings.HasSuffix(got.reason, "…") {
		t.Errorf("%d bytes: %s", len(got.reason), got.reason)
	}
}

func TestWorkerOutlivesItsOutbox(t *testing.T) {
	box := &outbox{failing: errors.New("database is gone")}
	looks := make(chan struct{}, 1000)
	r := start(t, box, transport(func(context.Context, mail.Message) error { return nil }), func(o *mail.Options) {
		o.Poll = time.Millisecond
		o.Now = func() time.Time { // asked before every look
			select {
			case looks <- struct{}{}:
			default:
			}
			return noon()
		}
	})
	for range 3 {
		<-looks
	}
	box.fail(nil)
	box.add(reset("ada"))
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
	if n := strings.Count(r.log.String(), "the outbox cannot be read"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

func TestHostsShareAnOutbox(t *testing.T) {
	const mails, hosts = 60, 3
	box := &outbox{}
	for i := range mails {
		box.add(reset("user" + strconv.Itoa(i)))
	}
	var mu sync.Mutex
	sent := map[string]int{}
	sender := transport(func(_ context.Context, m mail.Message) error {
		mu.Lock()
		defer mu.Unlock()
		sent[m.To]++
		return nil
	})
	all := make(chan mail.Outcome, mails)
	for range hosts {
		start(t, box, sender, func(o *mail.Options) {
			o.Observe = func(_ string, outcome mail.Outcome) { all <- outcome }
		})
	}
	for range mails {
		if o := <-all; o != mail.Sent {
			t.Errorf("outcome %s", o)
		}
	}
	for to, n := range sent {
		if n != 1 {
			t.Errorf("%s got %d mails", to, n)
		}
	}
	if len(sent) != mails {
		t.Errorf("%d people got mail", len(sent))
	}
}

// A host that was killed while it sent leaves a lease behind; when it is over,
// another host sends the mail.
func TestAbandonedLeaseIsTakenOver(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	if _, err := box.LeaseMail(t.Context(), noon(), noon().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	clock := &clock{now: noon()}
	r := start(t, box, transport(func(context.Context, mail.Message) error { return nil }),
		func(o *mail.Options) { o.Now, o.Poll = clock.Now, time.Millisecond })
	clock.set(noon().Add(59 * time.Second))
	r.Kick()
	if got, _ := box.row(id); got.Attempt != 1 {
		t.Error("taken before its time")
	}
	clock.set(noon().Add(time.Minute))
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
}

func TestStopWaitsForWhatIsUnderWay(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	under, goOn := make(chan struct{}), make(chan struct{})
	r := start(t, box, transport(func(ctx context.Context, _ mail.Message) error {
		close(under)
		<-goOn
		return ctx.Err()
	}), func(o *mail.Options) { o.Grace = time.Hour })
	<-under
	r.stop()
	box.add(reset("bob"))
	close(goOn)
	if err := <-r.done; err != nil {
		t.Fatal(err)
	}
	r.done <- nil // for the cleanup
	if o := <-r.outcomes; o != mail.Sent {
		t.Errorf("outcome %s", o)
	}
	if _, ok := box.row(id); ok {
		t.Error("sent, but still in the outbox")
	}
	if len(box.rows) != 1 {
		t.Error("mail was begun after the stop")
	}
}

func TestStopEndsWhatTakesTooLong(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	under := make(chan struct{})
	r := start(t, box, transport(func(ctx context.Context, _ mail.Message) error {
		close(under)
		<-ctx.Done()
		return ctx.Err()
	}), func(o *mail.Options) { o.Grace = time.Millisecond })
	<-under
	r.stop()
	if o := <-r.outcomes; o != mail.Returned {
		t.Errorf("outcome %s", o)
	}
	if got, _ := box.row(id); got.due != noon() {
		t.Errorf("the item is not due again at once: %+v", got)
	}
}

// What came of a mail is noted when the database is back, and the mail is due again then:
// it once waited for the end of its lease.
func TestOutcomeOutlivesTheOutbox(t *testing.T) {
	box := &outbox{}
	id, known := box.add(reset("ada")), make(chan struct{})
	r := start(t, box, transport(func(context.Context, mail.Message) error {
		box.fail(errors.New("database is gone"))
		return errors.New("no mail server")
	}), func(o *mail.Options) {
		o.Jitter = func() float64 { // asked when the outcome is known
			close(known)
			return 0
		}
	})
	<-known
	time.Sleep(150 * time.Millisecond) // for a look that fails
	box.fail(nil)
	if o := <-r.outcomes; o != mail.Retried {
		t.Errorf("outcome %s", o)
	}
	if got, _ := box.row(id); got.due != noon().Add(10*time.Second) {
		t.Errorf("due at %v", got.due)
	}
}

// A stop never gives up a mail, and one that is leased just then is sent or given
// back.
func TestStopKeepsNoLease(t *testing.T) {
	box := &outbox{}
	id := box.add(reset("ada"))
	leasing, goOn := make(chan struct{}), make(chan struct{})
	slow := &slowOutbox{outbox: box, leasing: leasing, goOn: goOn}
	r := start(t, box, transport(func(ctx context.Context, _ mail.Message) error {
		<-ctx.Done()
		return ctx.Err()
	}), func(o *mail.Options) { o.Outbox, o.Grace, o.Attempts = slow, time.Millisecond, 1 })
	<-leasing
	r.stop()
	close(goOn)
	if o := <-r.outcomes; o != mail.Returned {
		t.Errorf("outcome %s", o)
	}
	if got, ok := box.row(id); !ok || got.dead || got.due != noon() {
		t.Errorf("the item is not due again at once: %+v", got)
	}
}

// A slowOutbox takes its time to lease, and notices when its caller does not wait.
type slowOutbox struct {
	*outbox
	leasing, goOn chan struct{}
	once          sync.Once
}

func (s *slowOutbox) LeaseMail(ctx context.Context, now, until time.Time) (mail.Item, error) {
	item, err := s.outbox.LeaseMail(ctx, now, until)
	s.once.Do(func() { close(s.leasing) })
	<-s.goOn
	if ctx.Err() != nil {
		return mail.Item{}, ctx.Err()
	}
	return item, err
}

func TestNewWorkerNamesEveryFault(t *testing.T) {
	if _, err := mail.NewWorker(mail.Options{}); err == nil {
		t.Error("a worker without an outbox")
	}
	_, err := mail.NewWorker(mail.Options{
		Outbox: &outbox{}, Resolve: resolve,
		Config: mail.Config{Transport: "pigeon", From: "?", Templates: dir(t, map[string]string{"password_reset.txt": "x"})},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"mail.transport", "mail.from", "password_reset.txt"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// From the outbox to a file, as in the demo: the file holds the link.
func TestWorkerIntoAFile(t *testing.T) {
	d := t.TempDir()
	box := &outbox{}
	box.add(reset("ada"))
	r := start(t, box, nil, func(o *mail.Options) { o.Config.Dir = d })
	if o := <-r.outcomes; o != mail.Sent {
		t.Fatalf("outcome %s:\n%s", o, r.log)
	}
	entries, err := os.ReadDir(d)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v (%v)", entries, err)
	}
	text, err := os.ReadFile(d + "/" + entries[0].Name())
	if err != nil || !strings.Contains(string(text), "\r\nhttps://shop.example.com/password/reset/"+secret+"?email=ada%40example.com\r\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

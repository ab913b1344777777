package mail_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
)

func reset(user string) mail.Item {
	return mail.Item{UserID: user, Purpose: mail.PasswordReset, Locale: "en"}
}

const shop = "Acme Shop <no-reply@shop.example.com>"

func TestWorkerSends(t *testing.T) {
	var got []mail.Message
	w := worker(t, transport(func(ctx context.Context, m mail.Message) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("sending may take forever")
		}
		got = append(got, m)
		return nil
	}), mail.Config{From: shop})
	for _, item := range []mail.Item{reset("ada"), {UserID: "bob", Purpose: mail.PasswordChanged, Locale: "de"}} {
		if err := w.Deliver(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	if m := got[0]; m.To != "ada@example.com" || !strings.Contains(m.Text, secret) || m.Date != noon() ||
		!strings.HasSuffix(m.ID, "@shop.example.com") || m.Subject != "Set a new password for Acme Shop" {
		t.Errorf("sent %+v", m)
	}
	if m := got[1]; m.To != "bob@example.com" || m.Lang != "de" || m.ID == got[0].ID || !strings.Contains(m.Subject, "geändert") {
		t.Errorf("sent %+v", m)
	}
}

func TestAppIsCalledAsItsSender(t *testing.T) {
	for from, want := range map[string]string{
		"Acme <no-reply@example.com>":                "Set a new password for Acme",
		"=?utf-8?q?B=C3=BCro?= <no-reply@a.example>": "Set a new password for Büro",
		"no-reply@example.com":                       "Set a new password for Vestibule",
	} {
		subject := ""
		err := worker(t, transport(func(_ context.Context, m mail.Message) error {
			subject = m.Subject
			return nil
		}), mail.Config{From: from}).Deliver(t.Context(), reset("ada"))
		if err != nil || subject != want {
			t.Errorf("%s: got %q, want %q (%v)", from, subject, want, err)
		}
	}
}

func TestWorkerDropsWhatNobodyWants(t *testing.T) {
	w := worker(t, transport(func(context.Context, mail.Message) error {
		t.Error("sent")
		return nil
	}), mail.Config{From: shop})
	for _, user := range []string{"gone", ""} { // the second is a decoy, for an address that nobody has
		if err := w.Deliver(t.Context(), reset(user)); !errors.Is(err, outbox.ErrUnwanted) {
			t.Errorf("%q: %v", user, err)
		}
	}
}

func TestPausesGrow(t *testing.T) {
	w := worker(t, nil, mail.Config{From: shop, Transport: "log"})
	for i, most := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 900, 900, 0} { // seconds
		most *= time.Second
		for range 100 {
			if got := w.Pause(mail.Item{Attempt: i + 1}, noon()); got > most || got < most*3/4 {
				t.Fatalf("after attempt %d: %s, want at most a quarter less than %s", i+1, got, most)
			}
		}
	}
}

func TestOutcomesAreCounted(t *testing.T) {
	var got []string
	w, err := mail.NewWorker(mail.Options{
		Config: mail.Config{From: shop, Transport: "log"}, Log: hclog.NewNullLogger(),
		Observe: func(purpose, outcome string) { got = append(got, purpose+" "+outcome) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []outbox.Outcome{outbox.Delivered, outbox.Retried, outbox.Returned, outbox.Dead, outbox.Unwanted} {
		w.Observe(reset("ada"), o)
	}
	want := []string{"password_reset sent", "password_reset retried", "password_reset returned", "password_reset dead", "password_reset dropped"}
	if !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
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
			err := worker(t, transport(func(context.Context, mail.Message) error {
				return fmt.Errorf("%w: %s", mail.ErrRejected, words)
			}), mail.Config{From: shop}).Deliver(t.Context(), reset("ada"))
			if !errors.Is(err, outbox.ErrRejected) {
				t.Error("the error does not say that the mail was rejected")
			}
			if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "\n") || !strings.Contains(text, "554") {
				t.Errorf("the log and the outbox get %q", text)
			}
		})
	}
}

func TestNewWorkerNamesEveryFault(t *testing.T) {
	_, err := mail.NewWorker(mail.Options{
		Resolve: resolve,
		Config:  mail.Config{Transport: "pigeon", From: "?", Templates: dir(t, map[string]string{"password_reset.txt": "x"})},
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
	if err := worker(t, nil, mail.Config{From: shop, Dir: d}).Deliver(t.Context(), reset("ada")); err != nil {
		t.Fatal(err)
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

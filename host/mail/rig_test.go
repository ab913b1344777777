package mail_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/mail"
)

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

// worker returns a worker that delivers what a test hands to it; the loop around that is
// tested in host/outbox.
func worker(t *testing.T, sender mail.Sender, config mail.Config) *mail.Worker {
	t.Helper()
	w, err := mail.NewWorker(mail.Options{
		Config: config, Resolve: resolve, Sender: sender, Host: "shop.example.com", Log: hclog.NewNullLogger(), Now: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

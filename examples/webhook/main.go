// A listener that posts what has happened to a webhook, signed as
// https://www.standardwebhooks.com says, so that the receiver knows who sent it.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

type config struct {
	URL    string `config:"url,required" doc:"Where events are posted to."`
	Secret string `config:"secret,required" doc:"whsec_ and 24 to 64 random bytes as base64, which the receiver knows, too."`
}

// Validate checks the config block.
func (c *config) Validate() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return pluginsdk.BadConfig("url", "it must be an address such as https://example.com/hooks")
	}
	if key, err := c.key(); err != nil || len(key) < 24 || len(key) > 64 {
		return pluginsdk.BadConfig("secret", `it must be whsec_ and 24 to 64 bytes as base64: try echo "whsec_$(openssl rand -base64 32)"`)
	}
	return nil
}

func (c *config) key() ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(c.Secret, "whsec_"))
}

type webhook struct {
	config config
	client http.Client
	now    func() time.Time
}

func newWebhook() *webhook {
	return &webhook{now: time.Now, client: http.Client{
		// A redirect would take the signature to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Notify posts an event. What is not answered with 2xx is posted again later, with the
// same webhook-id, by which the receiver knows a repetition.
func (w *webhook) Notify(ctx context.Context, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
	if e.Kind != "password_reset" {
		return nil, nil // acknowledged: nobody has asked for it
	}
	body, err := json.Marshal(map[string]any{
		"type": e.Kind, "timestamp": e.At.Format(time.RFC3339Nano),
		"data": map[string]string{"user_id": e.User.ID, "email": e.User.Email},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	at := strconv.FormatInt(w.now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", e.ID)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", w.sign(e.ID, at, body))
	answer, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("the webhook answers %s", answer.Status)
	}
	return nil, nil
}

// sign returns the signature of one post. The key was checked by Validate.
func (w *webhook) sign(id, at string, body []byte) string {
	key, _ := w.config.key()
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body) // never fails
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (w *webhook) plugin() pluginsdk.Plugin {
	return pluginsdk.Plugin{
		Name: "webhook", Version: "1.0.0", Description: "Posts events to a webhook.", Listener: w, Config: &w.config,
	}
}

func main() { pluginsdk.Serve(newWebhook().plugin()) }

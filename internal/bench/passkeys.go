package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
)

// A passkeyPage is the page of a browser on localhost, where passkeys work.
type passkeyPage struct {
	client *http.Client
	base   string
}

// post returns the answer to a body.
func (p passkeyPage) post(method, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(method, p.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return answer, err
}

// passkeySignIn returns the milliseconds of processor time that the host takes for a sign-in by passkey, from the options to
// the session. The authenticator signs in this process.
func (b *bench) passkeySignIn() (m measured, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return m, err
	}
	page := passkeyPage{&http.Client{Jar: jar}, strings.Replace(b.vestibule.base, "127.0.0.1", "localhost", 1)}
	key := passkeytest.New(page.base)
	if _, err := page.post(http.MethodPost, "/auth/login", map[string]string{"login": login, "password": secret}); err != nil {
		return m, err
	}
	options, err := page.post(http.MethodPost, "/auth/account/passkeys/options", struct{}{})
	if err != nil {
		return m, err
	}
	credential, err := key.Create(options)
	if err != nil {
		return m, err
	}
	made, err := page.post(http.MethodPost, "/auth/account/passkeys", map[string]any{"credential": credential, "name": "Bench"})
	if err != nil {
		return m, err
	}
	var entry struct{ ID string }
	if err := json.Unmarshal(made, &entry); err != nil {
		return m, err
	}
	// The database is kept for the next run, and a person has twenty passkeys at most.
	defer func() {
		_, gone := page.post(http.MethodDelete, "/auth/account/passkeys/"+entry.ID, struct{}{})
		err = errors.Join(err, gone)
	}()
	if _, err := page.signIns(key, turn); err != nil { // warms up
		return m, err
	}
	before, _, err := b.usage(b.vestibule)
	if err != nil {
		return m, err
	}
	n, err := page.signIns(key, 2*longTurn)
	if err != nil {
		return m, err
	}
	after, _, err := b.usage(b.vestibule)
	each := float64(after-before) / float64(n)
	return measured{each / 1000, fmt.Sprintf("%.0f", each)}, err
}

// signIns signs in n times with a passkey.
func (p passkeyPage) signIns(key *passkeytest.Authenticator, n int) (int, error) {
	for range n {
		options, err := p.post(http.MethodPost, "/auth/passkeys/options", struct{}{})
		if err != nil {
			return n, err
		}
		credential, err := key.Get(options)
		if err != nil {
			return n, err
		}
		if _, err := p.post(http.MethodPost, "/auth/passkeys/login", map[string]any{"credential": credential}); err != nil {
			return n, err
		}
	}
	return n, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/time/rate"
)

const (
	// maxAnswer is how long an answer of a provider may be, in bytes.
	maxAnswer = 1 << 20
	// requestLimit bounds one request to a provider.
	requestLimit = 5 * time.Second
	// spare is the part of a call's time that is left for the answer to the host.
	spare = 500 * time.Millisecond
	// maxSaid bounds the text of a library's error, in bytes: it may quote a provider.
	maxSaid = 300
)

// inTime returns a context that ends before that of the call. The host replaces a plugin
// that lets calls run out of time, and a slow provider is not the plugin's fault.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, end.Add(-spare))
	}
	return context.WithCancel(ctx)
}

// newClient returns the client for all requests to a provider. Redirects are not followed:
// the code and the secret would be posted to another address.
func newClient(wrap func(http.RoundTripper) http.RoundTripper) *http.Client {
	dialer := &net.Dialer{Timeout: requestLimit}
	var transport http.RoundTripper = bounded{&http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: requestLimit, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}}
	if wrap != nil {
		transport = wrap(transport)
	}
	return &http.Client{
		Transport: transport, Timeout: requestLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded reads answers whole, up to [maxAnswer]. What is asked by GET must be JSON with the
// status 200, so that no library quotes another answer in an error.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	get := r.Method == http.MethodGet
	if get && resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("its answer is longer than %d bytes", maxAnswer)
	case get && !json.Valid(body):
		return nil, errors.New("its answer is no JSON")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// A limited refuses requests that come too often.
type limited struct {
	http.RoundTripper
	limit *rate.Limiter
}

// RoundTrip implements [http.RoundTripper].
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.limit.Allow() {
		return nil, errors.New("it was asked several times within seconds and is left alone for a while")
	}
	return l.RoundTripper.RoundTrip(r)
}

// failed returns an error about what was tried. It does not wrap: the context of a request
// that ran out of time is not that of the call.
func failed(what string, err error) error {
	return fmt.Errorf("%s: %s", what, oneLine(err.Error(), maxSaid))
}

// oneLine returns a text without control characters and, at a whole letter, at most max bytes.
func oneLine(text string, limit int) string {
	text = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), "")
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

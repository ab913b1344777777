package odata

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// once makes a request, or a group of them, have its effect once, however often its client sends it (OASIS Repeatable Requests
// 1.0). The answers are kept in the transaction that writes, so that either both are there or neither is.
type once struct {
	write.Repeat
	// known reports that the requests had their effect before: answers are then what is left of their answers. Otherwise they
	// are those that are to be kept.
	known   bool
	answers []*result
}

// remembered is how long a request is remembered, slack how much longer its row stays, since the clocks of hosts differ, and keptBody
// how many bytes the bodies of its answers have together.
const (
	remembered = 24 * time.Hour
	slack      = 30 * time.Minute
	keptBody   = 64 << 10
)

// The headers of a request that can be repeated.
const (
	headerRequestID = "Repeatability-Request-Id"
	headerFirstSent = "Repeatability-First-Sent"
	headerClientID  = "Repeatability-Client-Id"
	headerResult    = "Repeatability-Result"
)

// repeatable reports whether headers ask for a request to be repeatable.
func repeatable(h http.Header) bool { return h[headerRequestID] != nil || h[headerFirstSent] != nil }

// rejected is the fault of a request that was not done because it cannot be repeated.
func rejected(status int, message string) *fault {
	return &fault{status: status, code: codeRejected, pos: -1, message: message}
}

const codeRejected = "repeatability_rejected"

// setRepeatability says in an answer whether the request can be repeated.
func setRepeatability(h http.Header, err error) {
	h.Set(headerResult, "accepted")
	if f, ok := errors.AsType[*fault](err); ok && f.code == codeRejected {
		h.Set(headerResult, "rejected")
	}
}

// onceOf reads the headers of a request that is to be repeated, or of the first of a group; nil where there are none. parts are what
// makes it the same request.
func (s *writing) onceOf(caller Caller, h http.Header, parts ...[]byte) (*once, error) {
	if !repeatable(h) {
		return nil, nil //nolint:nilnil // most requests are not repeated
	}
	if !s.repeats {
		return nil, rejected(http.StatusNotImplemented, "requests cannot be repeated here: there is no place to remember them in")
	}
	id, ok := single(h, headerRequestID)
	if !ok {
		return nil, rejected(http.StatusBadRequest, headerRequestID+" needs one value of at most 200 characters, beside "+headerFirstSent)
	}
	client, ok := single(h, headerClientID)
	if !ok && h[headerClientID] != nil {
		return nil, rejected(http.StatusBadRequest, headerClientID+" needs one value of at most 200 characters")
	}
	text, ok := single(h, headerFirstSent)
	sent, err := http.ParseTime(text)
	now := s.opts.Now()
	switch {
	case !ok || err != nil:
		return nil, rejected(http.StatusBadRequest, headerFirstSent+" needs the time at which the request was first sent, such as "+now.UTC().Format(http.TimeFormat))
	case sent.After(now.Add(remembered)):
		return nil, rejected(http.StatusBadRequest, headerFirstSent+" is "+sent.UTC().Format(http.TimeFormat)+", more than a day ahead of this host, which has "+now.UTC().Format(http.TimeFormat)+": set the clock of the client, and send the time at which the request was first sent")
	case sent.Before(now.Add(-remembered)):
		return nil, rejected(http.StatusPreconditionFailed, "the request was first sent longer ago than requests are remembered, which is a day: it cannot be told whether it was done")
	}
	ends := now
	if sent.After(now) {
		ends = sent
	}
	return &once{Repeat: write.Repeat{ID: hashOf([]byte(caller.ID), []byte(client), []byte(id)), Print: hashOf(parts...), Ends: ends.Add(remembered + slack)}}, nil
}

// single is the one value of a header, of visible characters; false where there is another number of them.
func single(h http.Header, name string) (string, bool) {
	values := h[name]
	if len(values) != 1 || values[0] == "" || len(values[0]) > 200 || slices.ContainsFunc([]byte(values[0]), func(c byte) bool { return c < ' ' || c > '~' }) {
		return "", false
	}
	return values[0], true
}

// hashOf hashes texts, each with its length.
func hashOf(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p))) // a hash takes everything
		h.Write(p)
	}
	return h.Sum(nil)
}

// groupOnce is onceOf for a group, whose requests that write have the same headers.
func (s *writing) groupOnce(q *request, list []batch.Request) (*once, error) {
	var first http.Header
	for _, r := range list {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			continue
		}
		if first == nil {
			first = r.Header
		}
		for _, name := range []string{headerRequestID, headerFirstSent, headerClientID} {
			if !slices.Equal(first[name], r.Header[name]) {
				return nil, rejected(http.StatusBadRequest, name+" must be alike on all requests of a change set or an atomicity group, as they have their effect together")
			}
		}
	}
	if !repeatable(first) {
		return nil, nil //nolint:nilnil // as in onceOf
	}
	parts := make([][]byte, 0, 3*len(list))
	for _, r := range list {
		parts = append(parts, []byte(r.Method), []byte(r.URL), r.Body)
	}
	return s.onceOf(q.caller, first, parts...)
}

// claim claims the request for the transaction that has just begun.
func (c *changes) claim() error {
	if c.once == nil {
		return nil
	}
	c.once.known, c.once.answers = false, nil
	kept, err := c.tx.Claim(&c.once.Repeat)
	switch {
	case err != nil:
		return c.fault(err)
	case kept == nil:
		return nil
	case !bytes.Equal(kept.Print, c.once.Print):
		return rejected(http.StatusBadRequest, headerRequestID+" was used for another request")
	}
	c.once.known = true
	return json.Unmarshal(kept.Answer, &c.once.answers)
}

// answered returns the answer to the next request of the group that had its effect before; nil where it has not.
func (c *changes) answered() *result {
	if c.once == nil || !c.once.known || len(c.once.answers) == 0 {
		return nil
	}
	done := c.once.answers[0]
	c.once.answers = c.once.answers[1:]
	return done
}

// keep keeps the answers of the transaction.
func (c *changes) keep() error {
	room := keptBody
	for i, done := range c.once.answers {
		if room -= len(done.Body); room < 0 {
			c.once.answers[i] = done.withoutBody()
		}
	}
	text, err := json.Marshal(c.once.answers)
	if err != nil {
		return err
	}
	if err := c.tx.Keep(&c.once.Repeat, text); err != nil {
		return c.fault(err)
	}
	return nil
}

// withoutBody is the answer that the client would have got for Prefer: return=minimal.
func (d *result) withoutBody() *result {
	h := d.Header.Clone()
	h.Del("Content-Type")
	if location := h.Get("Location"); location != "" {
		h.Set("OData-EntityId", location)
	}
	return &result{Status: http.StatusNoContent, Header: h}
}

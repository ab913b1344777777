package web

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// noFlags are those of a trace that begins here: a host records nothing but its log, and
// what begins a trace without deciding on recording leaves the flag sampled 0 (3.2.2.5.1).
const noFlags = "00"

// traceOf takes over the trace that the headers of a trusted proxy tell of, and begins
// the fresh one where they tell of none, or not in the form of the standard. The span,
// which is the request itself, is new in any case (W3C Trace Context Level 1).
func traceOf(h http.Header, fresh, span string) auth.Trace {
	t := auth.Trace{ID: fresh, Span: span}
	id, flags, ok := parseTraceparent(h["Traceparent"])
	if ok { // else tracestate does not count either (3.3.1)
		t.ID = id
		if state := strings.Join(h["Tracestate"], ","); len(state) <= maxTracestate && isPrintable(state) {
			t.State = state
		}
	}
	t.Parent = "00-" + t.ID + "-" + span + "-" + flags
	return t
}

// isPrintable tells whether a header can also be metadata of gRPC.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// maxTracestate is how much of tracestate has to be passed on (3.3.1.5).
const maxTracestate = 512

// parseTraceparent reads the header (3.2). Of versions to come it reads what the
// standard says that it can be sure of (3.2.4).
func parseTraceparent(values []string) (id, flags string, ok bool) {
	if len(values) != 1 {
		return "", noFlags, false
	}
	s := values[0]
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return "", noFlags, false
	}
	version, id, parent, flags := s[:2], s[3:35], s[36:52], s[53:55]
	switch {
	case !isLowerHex(version) || version == "ff":
		return "", noFlags, false
	case version == "00" && len(s) != 55, len(s) > 55 && s[55] != '-':
		return "", noFlags, false
	case !isLowerHex(id) || !isLowerHex(parent) || !isLowerHex(flags):
		return "", noFlags, false
	case strings.Trim(id, "0") == "", strings.Trim(parent, "0") == "":
		return "", noFlags, false
	}
	// Only the flag sampled is known; others must be sent as 0 (3.2.2.5.2).
	if strings.ContainsRune("13579bdf", rune(flags[1])) {
		return id, "01", true
	}
	return id, noFlags, true
}

func isLowerHex(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// newRequest returns what is known of a request from the start: what a trusted proxy tells
// of it, and something new for all others.
func (s *Site) newRequest(r *http.Request) *auth.Request {
	told := r.Header
	if !s.trustsSender(r.RemoteAddr) {
		told = nil
	}
	// Nobody can guess these who has not seen the memory of the process, and no secret depends on them. The bytes of
	// crypto/rand cost a request ten times as much.
	random := make([]byte, 0, 40)
	for range cap(random) / 8 {
		random = binary.NativeEndian.AppendUint64(random, rand.Uint64())
	}
	text := hex.EncodeToString(random)
	id, trace := text[:24], traceOf(told, text[24:56], text[56:72])
	if told := told.Get("X-Request-Id"); isRequestID(told) {
		id = told
	}
	client, network := ClientOf(r.RemoteAddr, r.Header["X-Forwarded-For"], s.o.TrustedProxies)
	return &auth.Request{ID: id, Trace: trace, Client: client, Network: network}
}

// isRequestID tells whether an id of a proxy can be taken over: some visible characters
// that need no quoting in a log, a header or JSON.
func isRequestID(s string) bool {
	const others = "-._:@/+="
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(others, r) && !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
	})
}

// trustsSender tells whether a request came from a trusted proxy, by the address of
// its socket.
func (s *Site) trustsSender(remote string) bool {
	if len(s.o.TrustedProxies) == 0 {
		return false
	}
	addr, ok := parseAddr(remote)
	return ok && contains(s.o.TrustedProxies, addr)
}

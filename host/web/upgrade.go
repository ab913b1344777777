package web

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// isWebSocket reports whether a request asks for a WebSocket (RFC 6455 4.1) and for
// nothing else. Every other upgrade is left out of the request to an application,
// as RFC 9110 7.8 allows: what would be spoken after it passes no guard.
func isWebSocket(r *http.Request) bool {
	upgrade := r.Header.Values("Upgrade")
	if r.Method != http.MethodGet || len(upgrade) != 1 || !strings.EqualFold(strings.TrimSpace(upgrade[0]), "websocket") {
		return false
	}
	for _, line := range r.Header.Values("Connection") {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return true
			}
		}
	}
	return false
}

// How often a connection's session is looked up, and how often in a row the answer
// may fail to come. Together they keep the promise that a connection ends within
// five seconds of its session.
const (
	sessionCheck    = 1200 * time.Millisecond
	unansweredLimit = 3
)

// endWith calls end once the session is over, or once nobody can tell; it returns
// when ctx ends.
func endWith(ctx context.Context, end func(), alive func(context.Context) (bool, error)) {
	ticker := time.NewTicker(sessionCheck)
	defer ticker.Stop()
	for unanswered := 0; unanswered < unansweredLimit; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		asked, cancel := context.WithTimeout(ctx, sessionCheck)
		lasts, err := alive(asked)
		cancel()
		switch {
		case err != nil:
			unanswered++
		case !lasts:
			end()
			return
		default:
			unanswered = 0
		}
	}
	end()
}

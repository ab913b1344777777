package web

import (
	"net/http"
	"strings"
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

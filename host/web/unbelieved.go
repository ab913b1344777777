package web

import (
	"net/http"
	"net/netip"
	"sync"
)

// unbelieved are the peers that look like a proxy of the operator's own and are none
// of the trusted ones. It is safe for concurrent use.
type unbelieved struct {
	mu    sync.Mutex
	peers map[netip.Addr]bool
}

// toldPeers is how many different peers are told of at most: whoever is in the private
// network can make up many.
const toldPeers = 16

// isNew reports, once for each peer, that it is on this machine or in a private
// network, tells of clients in X-Forwarded-For, and is not believed.
func (u *unbelieved) isNew(r *http.Request, trusted []netip.Prefix) bool {
	if len(r.Header["X-Forwarded-For"]) == 0 {
		return false
	}
	peer, ok := parseAddr(r.RemoteAddr)
	if !ok || !peer.IsPrivate() && !peer.IsLoopback() || contains(trusted, peer) {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.peers[peer] || len(u.peers) >= toldPeers {
		return false
	}
	u.peers[peer] = true
	return true
}

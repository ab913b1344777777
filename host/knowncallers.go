package host

import (
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// presumes reports whether the query endpoint can find sessions with the pages that it reads.
func (o Options) presumes() bool {
	return o.OData != nil && o.OData.WithSessions && o.OData.Options.Presume == nil && o.Store.Engine() != "sqlite"
}

// counted returns the session whose user a request counts for. Where the request is likely to find its session with what it
// reads, that is the one that was remembered: it opens nothing.
func (h *Host) counted(r *http.Request) (auth.Session, error) {
	if h.o.presumes() && r.Header["Authorization"] == nil && isQuery(r) {
		if rec, ok := h.sessions.Presume(r); ok {
			return auth.Session{UserID: rec.UserID}, nil
		}
	}
	return h.pipeline.Counted(r)
}

// isQuery reports whether a request reads from the query endpoint.
func isQuery(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && len(r.URL.Path) > len(odataRoot) && r.URL.Path[:len(odataRoot)] == odataRoot
}

// knownCallers remember the sessions of settled users, who will probably ask again.
type knownCallers struct {
	odataCaller
	sessions *session.Store
	store    *store.DB
}

// caller is that of odataCaller.
func (c knownCallers) caller(w http.ResponseWriter, r *http.Request) (odata.Caller, error) {
	who, err := c.who.Authenticate(w, r)
	if err == nil && who.Way == auth.WaySession && who.Settled {
		if s, err := c.sessions.Get(r, c.sessions.Name()); err == nil {
			c.sessions.Remember(s)
		}
	} else {
		c.sessions.Forget(r)
	}
	return c.callerOf(r, who, err)
}

// presume names who asked with the cookie of a request before, and the row of their session as it was then.
func (c knownCallers) presume(r *http.Request) *odata.Presumed {
	if r.Header["Authorization"] != nil {
		return nil
	}
	rec, ok := c.sessions.Presume(r)
	if !ok {
		return nil
	}
	return &odata.Presumed{
		Caller:  odata.Caller{SignedIn: true, Settled: true, Client: c.site.ClientKey(r, rec.UserID)},
		Witness: c.witness(rec),
		Held:    func(r *http.Request) { c.sessions.Vouch(r, rec) },
		Waited:  func(r *http.Request, since time.Time) { auth.PatienceOf(r.Context()).Spend(since) },
	}
}

// witness is the row of a session as it is in a record.
func (c knownCallers) witness(rec session.Record) odata.Witness {
	table, columns, values := c.store.SessionRow(rec)
	return odata.Witness{Table: table, Columns: columns, Values: values}
}

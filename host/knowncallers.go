package host

import (
	"net/http"
	"strings"
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

// counted returns the session whose user a request counts for. Below the query endpoint that is the remembered one, which
// opens nothing: such a request is likely to find its session with the page that it reads.
func (h *Host) counted(r *http.Request) (auth.Session, error) {
	if h.o.presumes() && r.Header["Authorization"] == nil && strings.HasPrefix(r.URL.Path, odataRoot) {
		if rec, ok := h.sessions.Presume(r); ok {
			return auth.Session{UserID: rec.UserID}, nil
		}
	}
	return h.pipeline.Counted(r)
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
	table, columns, values := c.store.SessionRow(rec)
	return &odata.Presumed{
		Caller:  odata.Caller{SignedIn: true, Settled: true, Client: c.site.ClientKey(r, rec.UserID)},
		Witness: odata.Witness{Table: table, Columns: columns, Values: values},
		Waited:  func(r *http.Request, since time.Time) { auth.PatienceOf(r.Context()).Spend(since) },
	}
}

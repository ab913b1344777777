package host

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// odataOptions completes the endpoint's options with what only the host knows.
func (h *Host) odataOptions() odata.Options {
	o := h.o.OData.Options
	o.Root = "/odata/"
	o.Base = h.site.Base
	o.RequestID = h.site.RequestID
	o.Caller = func(r *http.Request) odata.Caller {
		caller, _ := r.Context().Value(callerKey{}).(odata.Caller)
		return caller
	}
	if o.Logger == nil {
		o.Logger = h.o.Logger.Named("odata")
	}
	if o.Now == nil {
		o.Now = h.o.Now
	}
	return o
}

type callerKey struct{}

// odataHandler finds out who asks, which the guards of the model decide on, and
// hands the request to the service as it came. A service without guards needs no
// session and reads none.
func (h *Host) odataHandler() http.Handler {
	open, policies := h.odataNeeds()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if open {
			h.odata.ServeHTTP(w, r)
			return
		}
		s, err := h.pipeline.Identify(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		caller := odata.Caller{SignedIn: s.SignedIn(), Settled: s.Settled()}
		if policies && s.SignedIn() {
			user, err := h.o.Store.Users().FindByID(r.Context(), s.UserID)
			if err != nil && !errors.Is(err, auth.ErrNotFound) {
				h.pipeline.Fail(w, r, err)
				return
			}
			caller.User = userColumns(user)
		}
		h.odata.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// odataNeeds reports whether the whole service is open, and whether a row policy
// asks for columns of the user.
func (h *Host) odataNeeds() (open, policies bool) {
	model := h.o.OData.Model
	open = model.Guard.String() == string(GuardNone)
	sets := slices.Clone(model.Sets)
	for _, single := range model.Singletons {
		sets = append(sets, single.Set)
	}
	for _, set := range sets {
		open = open && set.Guard.String() == string(GuardNone)
		policies = policies || strings.Contains(set.Policy, "@user_")
	}
	return open, policies
}

// userColumns are the values that row policies may name.
func userColumns(u auth.User) map[string]any {
	out := map[string]any{}
	for name, v := range u.Columns {
		out[name] = v
	}
	if u.ID != "" {
		out["id"], out["name"], out["email"] = u.ID, u.Name, u.Email
	}
	return out
}

package odata

import (
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// change makes the changes of the request in a transaction, which begins with the first of a group, and returns the answer. A
// change that finds no row creates it where the request upserts.
func (r *writer) change(c *changes) (*result, error) {
	done, err := r.try(c)
	if errors.Is(err, errUpsert) {
		r.seq, r.creates = nil, true
		done, err = r.try(c)
	}
	if !c.grouped {
		r.creates = false
	}
	return done, err
}

// errUpsert ends a change that found no row, and becomes the creation of it.
var errUpsert = errors.New("the entity is to be created")

// upserts reports whether the request creates the entity if it is not there (OData-Protocol 11.4.4). One with If-Match changes what
// the client knows, and creates nothing.
func (r *writer) upserts() bool {
	method := r.q.method == http.MethodPut || r.q.method == http.MethodPatch
	return method && r.resource.Upserts() && r.q.header["If-Match"] == nil
}

// again returns what a change is to be tried again for: nil for nothing. A creation that meets the row which another one has just
// created is tried anew, once, as the change of it.
func (r *writer) again(c *changes, w *bind.Writing, refusal *write.Refusal) error {
	main := r.upserts() && w.Path == "" && w.Reference == ""
	switch {
	case main && !r.creates && refusal.Kind == write.RowNotFound:
		return errUpsert
	case main && r.creates && refusal.Kind == write.Duplicate && !c.overtaken && refusal.OfKey(w.Change.Set.Type):
		c.overtaken, c.undone = true, true
		return errAgain
	}
	return nil
}

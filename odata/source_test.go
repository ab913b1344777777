package odata_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// numbers is a source without a database: a set of so many entities with the
// keys 1, 2, 3…, in that order, whatever is filtered. It fails and dawdles on
// request, which a database does at its own will only.
type numbers struct {
	total          int64
	failAt         int64         // the row at which reading fails; 0 never
	dawdle         time.Duration // before Open returns
	version        string
	padding        int // bytes of the column Text
	opened, closed atomic.Int64
}

func (n *numbers) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	if n.dawdle > 0 {
		select {
		case <-time.After(n.dawdle):
		case <-ctx.Done():
			return nil, fmt.Errorf("query: %w", ctx.Err())
		}
	}
	n.opened.Add(1)
	r := &numberRows{source: n, ctx: ctx, at: p.Top.Page.Skip, end: min(n.total, p.Top.Page.Skip+p.Top.Page.Rows)}
	if p.Top.Page.Rows > n.total {
		r.end = n.total
	}
	if key := literal(p.Top.Query.Key); key != nil {
		r.at = key.Value.Int - 1
		r.end = min(key.Value.Int, n.total)
	}
	r.text = bytes.Repeat([]byte{'x'}, n.padding)
	r.row = make([]plan.Value, len(p.Top.Columns))
	for _, c := range p.Top.Columns {
		r.columns = append(r.columns, c.Expr.(*plan.Ref).Path[0].Name)
	}
	return r, nil
}

// literal finds the constant that a key is compared with.
func literal(e plan.Expr) *plan.Literal {
	switch e := e.(type) {
	case *plan.Literal:
		return e
	case *plan.Call:
		for _, a := range e.Args {
			if l := literal(a); l != nil {
				return l
			}
		}
	}
	return nil
}

type numberRows struct {
	source  *numbers
	ctx     context.Context
	at, end int64
	columns []string
	row     []plan.Value
	text    []byte
	err     error
}

func (r *numberRows) Next() bool {
	if r.err = r.ctx.Err(); r.err != nil || r.at >= r.end {
		return false
	}
	r.at++
	if r.at == r.source.failAt {
		r.err = fmt.Errorf("the disk is gone: secret detail")
		return false
	}
	for i, name := range r.columns {
		switch name {
		case "ID":
			r.row[i] = plan.Value{Int: r.at}
		case "Text":
			r.row[i] = plan.Value{Bytes: r.text}
		default:
			r.row[i] = plan.Value{Null: true}
		}
	}
	return true
}

func (r *numberRows) Row() []plan.Value    { return r.row }
func (r *numberRows) Expand(int) plan.Rows { return nil }
func (r *numberRows) More() bool           { return r.at < r.source.total }
func (r *numberRows) Count() int64         { return r.source.total }
func (r *numberRows) Version() string      { return r.source.version }
func (r *numberRows) Err() error           { return r.err }
func (r *numberRows) Close() error         { r.source.closed.Add(1); return nil }

// numbersModel has three sets over the same numbers, one per guard, and a
// singleton.
func numbersModel() *edm.Model {
	id := &edm.Property{Name: "ID", Type: edm.Of(edm.Int64)}
	typ := &edm.EntityType{Name: "Number", Key: []*edm.Property{id}, Properties: []*edm.Property{
		id,
		{Name: "Text", Type: edm.Of(edm.String)},
		{Name: "Nothing", Type: edm.Of(edm.String), Nullable: true},
	}}
	m := &edm.Model{
		Namespace: "Demo", Container: "Container", Guard: edm.GuardNone, Types: []*edm.EntityType{typ},
		Sets: []*edm.EntitySet{
			{Name: "Numbers", Type: typ, Guard: edm.GuardNone, Description: "All of <them>"},
			{Name: "Guarded", Type: typ, Guard: edm.GuardSession},
			{Name: "Settled", Type: typ, Guard: edm.GuardSettled},
		},
	}
	m.Add(edm.EntitySet{Name: "First", Type: typ, Guard: edm.GuardNone}, true)
	return m
}

// service makes a service over so many numbers at /odata/.
func service(t testing.TB, source odata.Source, change func(*odata.Options, *edm.Model)) *odata.Service {
	t.Helper()
	model := numbersModel()
	o := odata.Options{Root: "/odata/"}
	if change != nil {
		change(&o, model)
	}
	s, err := odata.New(model, source, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get sends a request whose target goes over the wire as it stands; header
// holds alternating names and values.
func get(t testing.TB, h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, h, http.MethodGet, target, "", header...)
}

func send(t testing.TB, h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://h/", strings.NewReader(body))
	r.RequestURI = target
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

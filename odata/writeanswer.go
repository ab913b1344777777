package odata

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// result is the answer to a request that writes. It waits for the end of its transaction.
type result struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body,omitempty"`
}

// send sends the answer.
func (d *result) send(w http.ResponseWriter, q *request) {
	if part, ok := w.(*held); ok {
		part.keep(d)
		return
	}
	h := w.Header()
	maps.Copy(h, d.Header)
	if !q.inBatch && d.Status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(d.Body)))
	}
	w.WriteHeader(d.Status)
	if len(d.Body) > 0 {
		_, _ = w.Write(d.Body) // a client that is gone needs no answer
	}
}

// Send implements payload.Sink.
func (d *result) Send(block []byte, _ bool) error {
	if len(d.Body)+len(block) > maxResult {
		return tooMuchWritten()
	}
	d.Body = append(d.Body, block...)
	return nil
}

// maxResult is how many bytes the answer to one request has at most, as it waits for the commit. A row of the largest body
// fits, whatever its texts have to be escaped for.
const maxResult = 8 * maxBody

func tooMuchWritten() *fault {
	f := tooMuchHeld()
	f.message = "the answer is larger than 8 MiB: send Prefer: return=minimal, and read the entity by itself"
	return f
}

// answerOf begins an answer without a body.
func (r *writer) answerOf() *result {
	d := &result{Status: http.StatusNoContent, Header: http.Header{}}
	setSuccess(d.Header, r.q, "", true)
	d.Header.Del("Content-Type")
	return d
}

// answerAs is answerOf for one of many answers of a group.
func (r *writer) answerAs(last *entityAnswer) *result {
	if last.header != nil {
		return &result{Status: http.StatusNoContent, Header: maps.Clone(last.header)}
	}
	d := r.answerOf()
	if r.q.inBatch {
		last.header = maps.Clone(d.Header)
	}
	return d
}

// changed makes the answer for the row that a change has left.
func (r *writer) changed(c *changes, created bool, set *edm.EntitySet, p *plan.Plan, rows plan.Rows, key []plan.Value) (*result, error) {
	last, row := c.answerOf(r, p), rows.Row()
	r.encodes = last.encoder
	d, v := r.answerAs(last), make([]string, 3) // one array for all headers
	if r.applied != "" {
		d.Header.Set("Preference-Applied", r.applied)
	}
	if !r.q.inBatch || p.Kind == plan.Entity { // see response.begin
		v[0] = entityTag(p.Top, row)
		d.Header["Etag"] = v[0:1:1]
	}
	url := r.encoder().EntityURL(set, key)
	if v[1] = url; created {
		d.Header["Location"] = v[1:2:2]
	}
	switch {
	case r.minimal:
		if created {
			d.Header.Set("OData-EntityId", url)
		}
		return d, nil
	case p.Kind != plan.Entity && p.Top.Fields[0].Column >= 0 && row[p.Top.Fields[0].Column].Null:
		return d, nil
	}
	if d.Status = http.StatusOK; created {
		d.Status = http.StatusCreated
	}
	v[2] = last.contentType
	d.Header["Content-Type"] = v[2:3:3]
	if err := r.encode(c, d, p, rows); err != nil {
		return nil, c.fault(err)
	}
	if err := r.q.left.takeBytes(len(d.Body)); err != nil {
		return nil, c.fault(err)
	}
	return d, nil
}

// encode writes the body of an answer.
func (r *writer) encode(c *changes, d *result, p *plan.Plan, rows plan.Rows) error {
	buffer := r.answers.buffers.Get(d)
	defer r.answers.buffers.Put(buffer)
	switch p.Kind {
	case plan.Entity:
		return c.last.entities().Write(buffer, rows)
	case plan.Property:
		return r.encoder().Property(buffer, p, rows)
	}
	f := p.Top.Fields[0]
	d.Header.Set("Content-Type", rawType(p))
	buffer.Raw(string(payload.AppendText(nil, &rows.Row()[f.Column], &f.T)))
	return buffer.End()
}

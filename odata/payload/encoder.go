package payload

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Encoder holds how the answer to one request is written. Its methods change
// nothing in it.
type Encoder struct {
	// Root is the URL of the service, with a slash at its end.
	Root string
	// Namespace is that of the model.
	Namespace string
	Format    header.JSON
	// V401 tells that the answer is one of OData 4.01.
	V401 bool
	// MetadataETag is the entity tag of $metadata, for answers with full metadata
	// (OData-JSON 4.5.2).
	MetadataETag string
	// OmitNulls leaves properties out that are null (OData-Protocol 8.2.8.6);
	// expanded ones stay.
	OmitNulls bool
	// TakeRow is asked before each entity and each reference; its error ends the
	// answer. nil allows any number.
	TakeRow func() error
}

func (e *Encoder) takeRow() error {
	if e.TakeRow == nil {
		return nil
	}
	return e.TakeRow()
}

// Collection writes a collection of entities or references. next returns the URL
// of the page that a query option names. The rows are read to their end and
// not closed.
func (e *Encoder) Collection(w *Writer, p *plan.Plan, rows plan.Rows, next func(option string) string) error {
	n := e.compile(p.Top, nestedOf(p))
	w.Raw("{")
	e.context(w, p, nil)
	if p.Top.Count {
		w.Raw(`"@odata.count":`)
		w.buf = append(e.appendCount(w.buf, rows.Count()), ',')
	}
	w.Raw(`"value":`)
	if _, err := n.array(w, rows); err != nil {
		return err
	}
	if p.Top.Page.Next && rows.More() {
		w.Raw(`,"@odata.nextLink":`)
		w.buf = AppendString(w.buf, next(p.Top.NextOption(p.Top.Path, p.Top.Page.NextSkip, n.place)))
	}
	w.Raw("}")
	return w.End()
}

// Entity writes the entity, or the reference, that rows stands on.
func (e *Encoder) Entity(w *Writer, p *plan.Plan, rows plan.Rows) error {
	return e.Entities(p).Write(w, rows)
}

// Entities writes answers of one entity, or reference, each, for one plan. A plan that expands something has one answer. It is
// for one goroutine.
type Entities struct {
	node *node
	// head precedes the entity: it has the context URL.
	head []byte
}

// Entities prepares the answers.
func (e *Encoder) Entities(p *plan.Plan) *Entities {
	head := &Writer{buf: []byte{'{'}}
	e.context(head, p, nil)
	return &Entities{e.compile(p.Top, nestedOf(p)), head.buf}
}

// Write writes the entity, or the reference, of the current row.
func (e *Entities) Write(w *Writer, rows plan.Rows) error {
	w.buf = append(w.buf, e.head...)
	e.node.tally()
	if err := e.node.write(w, rows); err != nil {
		return err
	}
	w.buf = trimComma(w.buf)
	w.Raw("}")
	return w.End()
}

// Property writes the one field of p of the row that rows stands on. The value
// must not be null: null is answered by 204 without a body (OData-Protocol
// 11.2.4).
func (e *Encoder) Property(w *Writer, p *plan.Plan, rows plan.Rows) error {
	n := e.compile(p.Top, nil)
	f := &n.fields[0]
	w.Raw("{")
	e.context(w, p, rows.Row())
	if f.column < 0 {
		w.buf = f.members(w.buf, rows.Row())
	} else {
		if f.annotation != "" && e.Format.Metadata == header.Full {
			w.Raw(`"@odata.type":"` + f.annotation + `",`)
		}
		w.Raw(`"value":`)
		w.buf = appendJSON(w.buf, &rows.Row()[f.column], &f.typ, e.Format.IEEE754)
	}
	w.Raw("}")
	return w.End()
}

// nestedOf returns the counter of an answer that expands something, and nil for any other.
func nestedOf(p *plan.Plan) *plan.Nested {
	if len(p.Top.Expand) == 0 {
		return nil
	}
	return p.Nested()
}

// context writes the context URL as the first member, with a comma behind it
// where another member follows.
func (e *Encoder) context(w *Writer, p *plan.Plan, row []plan.Value) {
	if e.Format.Metadata == header.None {
		return
	}
	w.Raw(`"@odata.context":`)
	w.buf = append(AppendString(w.buf, e.appendContext(nil, p, row)), ',')
	if e.Format.Metadata == header.Full && e.MetadataETag != "" {
		w.Raw(`"@odata.metadataEtag":`)
		w.buf = append(AppendString(w.buf, e.MetadataETag), ',')
	}
}

// appendCount appends a total, which is an Edm.Int64.
func (e *Encoder) appendCount(dst []byte, n int64) []byte {
	if e.Format.IEEE754 {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// blockSize is how many bytes go to a Sink at once.
const blockSize = 64 << 10

// keepSize is the largest buffer that is worth keeping for the next answer.
const keepSize = 4 * blockSize

// Sink takes the blocks of an answer.
type Sink interface {
	// Send takes the next block; last reports whether the answer ends with it. The
	// block must not be kept.
	Send(block []byte, last bool) error
}

// Writer collects an answer and hands it to a Sink block by block. It is for
// one answer and one goroutine; take it from a Pool.
type Writer struct {
	buf  []byte
	sink Sink
	err  error
	// sent is how many bytes the blocks so far had.
	sent int64
}

// written is how many bytes the answer has so far.
func (w *Writer) written() int64 { return w.sent + int64(len(w.buf)) }

// Raw appends text as it is.
func (w *Writer) Raw(text string) { w.buf = append(w.buf, text...) }

// End sends what is left and gives the first error of the Sink.
func (w *Writer) End() error {
	if w.err == nil {
		w.err = w.sink.Send(w.buf, true)
	}
	w.buf = w.buf[:0]
	return w.err
}

// flushIfDue sends the block when it is full. Call it between rows.
func (w *Writer) flushIfDue() error {
	if len(w.buf) < blockSize {
		return nil
	}
	if w.err == nil {
		w.err = w.sink.Send(w.buf, false)
	}
	w.sent += int64(len(w.buf))
	w.buf = w.buf[:0]
	return w.err
}

// AppendObject appends the object of the fields of a row, without control information and whether or not they are null. Numbers are
// numbers.
func AppendObject(dst []byte, fields []plan.Field, row []plan.Value) []byte {
	all := field{fields: (&Encoder{Format: header.JSON{Metadata: header.None}}).fields(fields)}
	return append(all.members(append(dst, '{'), row), '}')
}

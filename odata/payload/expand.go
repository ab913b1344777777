package payload

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// expanded writes the i-th expanded property of the current row, its count and
// its next link, with a comma behind each (OData-JSON 8.3, 4.5.4, 4.5.5).
func (n *node) expanded(w *Writer, i int, rows plan.Rows) error {
	x := &n.expand[i]
	inner := rows.Expand(i)
	if x.plan.Count || x.plan.CountOnly {
		w.Raw(x.count)
		w.buf = append(n.encoder.appendCount(w.buf, inner.Count()), ',')
	}
	if x.plan.CountOnly {
		return inner.Err()
	}
	w.Raw(x.name)
	if !x.plan.Many {
		return x.single(w, inner)
	}
	if err := x.array(w, inner); err != nil {
		return err
	}
	w.buf = append(w.buf, ',')
	if x.plan.Page.Next && inner.More() {
		w.Raw(x.link)
		w.buf = append(w.buf, '"')
		w.buf = n.url(w.buf, rows.Row(), "/")
		w.buf = x.nextLink(w.buf)
		w.buf = append(w.buf, `",`...)
	}
	return nil
}

func (x *expansion) single(w *Writer, rows plan.Rows) error {
	if !rows.Next() {
		w.Raw("null,")
		return rows.Err()
	}
	if err := x.encoder.takeRow(); err != nil {
		return err
	}
	w.buf = append(w.buf, '{')
	if err := x.write(w, rows); err != nil {
		return err
	}
	w.buf = append(w.buf, "},"...)
	return nil
}

// nextLink appends the path below the parent and the query of the next page.
func (x *expansion) nextLink(dst []byte) []byte {
	dst = AppendEscaped(dst, x.plan.Nav.Name)
	if x.plan.Ref {
		dst = append(dst, "/$ref"...)
	}
	dst = append(dst, '?')
	if x.plan.Options != "" {
		s := AppendString(nil, x.plan.Options)
		dst = append(append(dst, s[1:len(s)-1]...), '&')
	}
	return strconv.AppendInt(append(dst, "$skip="...), x.plan.Page.NextSkip, 10)
}

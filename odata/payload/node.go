package payload

import (
	"errors"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// node is a plan.Node prepared for writing: names are quoted once, not once per
// row.
type node struct {
	encoder *Encoder
	root    string // the service root, escaped for the inside of a JSON string
	plan    *plan.Node
	// nested counts the rows of the answer; nil where nothing is expanded.
	nested *plan.Nested
	fields []field
	expand []expansion
	full   bool
	// named tells that each entity says its id, which the answer else does not tell.
	named bool
	// tagged reports that each entity has its entity tag.
	tagged bool
	// members are all that an object has, where the source may write them; nil where it may not.
	members []plan.Member
	// place is where the page ended that was written last; empty where next links carry $skip.
	place []plan.Value
	// unaddressed reports that the rows belong to an entity without an address, which no link names.
	unaddressed bool
}

// field is a member of an object.
type field struct {
	name       string // with quotes and colon
	annotation string // the @odata.type of the value; "" for none
	typ        edm.Type
	column     int
	quoted     bool
	omitNull   bool
	fields     []field // of a complex value
	defined    *plan.Defined
	complex    string // the @odata.type member of a complex value, if it has one
}

// expansion is an expanded navigation property.
type expansion struct {
	node
	name, count, link string // members, with quotes and colon
}

func (e *Encoder) compile(n *plan.Node, nested *plan.Nested) *node {
	c := &node{encoder: e, nested: nested, root: strings.Trim(quote(e.Root), `"`), plan: n, full: e.Format.Metadata == header.Full && !n.Ref}
	if !n.Ref {
		c.prepare()
	}
	for _, x := range n.Expand {
		name := x.Nav.Name
		c.expand = append(c.expand, expansion{
			node: *e.compile(x, nested), name: member(name), count: member(name + "@odata.count"), link: member(name + "@odata.nextLink"),
		})
	}
	return c
}

// writable lists the members of objects that are nothing but values in their usual form; nil for others.
func (n *node) writable() []plan.Member {
	if n.plan.Ref || n.full || n.named || len(n.plan.Expand) > 0 || n.encoder.Format.IEEE754 || n.encoder.OmitNulls {
		return nil
	}
	list := make([]plan.Member, len(n.fields))
	for i, f := range n.fields {
		if f.column < 0 || f.defined != nil {
			return nil
		}
		list[i] = plan.Member{Name: f.name, Column: f.column}
	}
	return list
}

// prepare gives a node its fields.
func (n *node) prepare() {
	n.fields = n.encoder.fields(n.plan.Fields)
	n.named = n.encoder.Format.Metadata == header.Minimal && !showsKey(n.plan)
	n.tagged = n.encoder.Format.Metadata != header.None && n.plan.Tag != nil
	n.members = n.writable()
}

// showsKey tells whether a client can compute the id of an entity: all of its key is
// in the answer, or it needs none (OData-JSON 4.5.8).
func showsKey(n *plan.Node) bool {
	if n.Set.Single() {
		return true
	}
	for _, column := range n.Key {
		if !slices.ContainsFunc(n.Fields, func(f plan.Field) bool { return f.Column == column && !f.Computed }) {
			return false
		}
	}
	return true
}

func (e *Encoder) fields(list []plan.Field) []field {
	out := make([]field, 0, len(list))
	for _, f := range list {
		if f.T.Kind == edm.Stream { // its value has a URL of its own
			continue
		}
		c := field{name: member(f.Name), typ: f.T, column: f.Column, quoted: e.Format.IEEE754, omitNull: e.OmitNulls, defined: f.Defined}
		if e.Format.Metadata == header.Full || f.Computed && e.Format.Metadata == header.Minimal {
			c.annotation = e.annotation(f.T)
		}
		if f.Column < 0 {
			c.fields, c.annotation = e.fields(f.Fields), ""
			if e.Format.Metadata == header.Full && f.T.Complex.Name != "" {
				c.complex = `"@odata.type":` + quote("#"+f.T.QualifiedName(e.Namespace))
			}
		}
		if c.annotation != "" {
			c.name = member(f.Name+"@odata.type") + quote(c.annotation) + "," + c.name
		}
		out = append(out, c)
	}
	return out
}

// annotation is the @odata.type of a value whose JSON form does not show its type
// (OData-JSON 4.5.3); empty where it does.
func (e *Encoder) annotation(t edm.Type) string {
	switch t.Kind {
	case edm.String, edm.Boolean, edm.Double:
		return ""
	case edm.Enum, edm.Complex:
		return "#" + t.QualifiedName(e.Namespace)
	default:
		return "#" + t.Kind.String()
	}
}

func member(name string) string {
	return string(append(AppendString(make([]byte, 0, len(name)+len(`"":`)), name), ':'))
}

func quote(s string) string { return string(AppendString(make([]byte, 0, len(s)+len(`""`)), s)) }

// array writes the rows of a page as an array and returns how many there are if the page has to end before its last row;
// else -1.
func (n *node) array(w *Writer, rows plan.Rows) (end int64, err error) {
	w.buf = append(w.buf, '[')
	source, _ := rows.(plan.JSONRows)
	if len(n.members) == 0 {
		source = nil
	}
	end = -1
	n.place = n.place[:0]
	written := int64(0)
	for rows.Next() {
		if n.ended(w) {
			end = written
			break
		}
		if err := n.take(); err != nil {
			return end, err
		}
		if written > 0 {
			w.buf = append(w.buf, ',')
		}
		written++
		w.buf = append(w.buf, '{')
		if err := n.object(w, rows, source); err != nil {
			return end, err
		}
		w.buf = append(w.buf, '}')
		if n.plan.Cursor != nil && (n.plan.Nav != nil || written == n.plan.Page.Rows) {
			n.place = n.plan.Place(n.place, rows.Row())
		}
		if err := w.flushIfDue(); err != nil {
			return end, err
		}
	}
	w.buf = append(w.buf, ']')
	return end, rows.Err()
}

// ended reports whether a nested page has to end before its next row.
func (n *node) ended(w *Writer) bool {
	return n.nested != nil && !n.unaddressed && n.nested.Ended(n.plan, w.written())
}

// take counts a row, which may be one too many.
func (n *node) take() error {
	n.tally()
	return n.encoder.takeRow()
}

func (n *node) tally() {
	if n.nested != nil {
		n.nested.Take(n.plan)
	}
}

// object writes what stands between the braces of the current row's object; source, if it is not nil, does it itself
// where it can.
func (n *node) object(w *Writer, rows plan.Rows, source plan.JSONRows) error {
	if source == nil {
		return n.write(w, rows)
	}
	start := len(w.buf)
	if n.tagged {
		w.buf = n.tag(w.buf, rows.Row())
	}
	var ok bool
	if w.buf, ok = source.AppendJSON(w.buf, n.members); ok {
		w.buf = trimComma(w.buf)
		return nil
	}
	if err := rows.Err(); err != nil {
		return err
	}
	w.buf = w.buf[:start]
	return n.write(w, rows)
}

// tag appends the entity tag of an entity, with a comma behind it (OData-JSON 4.5.7).
func (n *node) tag(dst []byte, row []plan.Value) []byte {
	dst = append(dst, `"@odata.etag":"W/\"`...)
	return append(n.plan.AppendTag(dst, row), `\"",`...)
}

// write is object without a source.
func (n *node) write(w *Writer, rows plan.Rows) error {
	row := rows.Row()
	switch {
	case n.plan.Ref:
		w.buf = n.id(w.buf, row)
	case n.full && n.plan.Applied:
		w.Raw(`"@odata.id":null,`)
	case n.full:
		w.buf = n.control(w.buf, row)
	case n.named || n.encoder.Format.Metadata == header.Minimal && !n.plan.Applied && n.transient(row):
		w.buf = n.id(w.buf, row)
	}
	if n.tagged && !n.plan.Ref {
		w.buf = n.tag(w.buf, row)
	}
	dst := w.buf // a store less for each field
	for i := range n.fields {
		dst = n.fields[i].append(dst, row)
	}
	w.buf = dst
	for i := range n.expand {
		if err := n.expanded(w, i, rows); err != nil {
			return err
		}
	}
	// Blocks are sent between rows only, so the last comma is still in the buffer.
	w.buf = trimComma(w.buf)
	return nil
}

// append appends the member with a comma behind it.
func (f *field) append(dst []byte, row []plan.Value) []byte {
	if f.omitNull && f.column >= 0 && row[f.column].Null || f.absent(row) {
		return dst
	}
	dst = append(dst, f.name...)
	if f.column < 0 {
		dst = append(f.members(append(dst, '{'), row), '}')
	} else {
		dst = appendJSON(dst, &row[f.column], &f.typ, f.quoted)
	}
	return append(dst, ',')
}

// absent tells whether a row does not have the field: a concat of $apply has put rows of several structures together. A
// structure without any member is not there either.
func (f *field) absent(row []plan.Value) bool {
	switch {
	case f.defined != nil:
		return row[f.defined.Column].Int>>f.defined.Bit&1 == 0
	case f.column >= 0 || len(f.fields) == 0:
		return false
	}
	for i := range f.fields {
		if !f.fields[i].absent(row) {
			return false
		}
	}
	return true
}

func (f *field) members(dst []byte, row []plan.Value) []byte {
	if f.complex != "" {
		dst = append(append(dst, f.complex...), ',')
	}
	for i := range f.fields {
		dst = f.fields[i].append(dst, row)
	}
	return trimComma(dst)
}

func trimComma(dst []byte) []byte {
	if dst[len(dst)-1] == ',' {
		return dst[:len(dst)-1]
	}
	return dst
}

// control appends the control information of metadata=full (OData-JSON 3.1.2):
// the type, the id, the URL to read it, and the links of its navigation.
func (n *node) control(dst []byte, row []plan.Value) []byte {
	dst = append(append(dst, `"@odata.type":`...), quote("#"+n.encoder.Namespace+"."+n.plan.Set.Type.Name)...)
	dst = n.id(append(dst, ','), row)
	if n.transient(row) {
		return dst
	}
	dst = n.url(append(dst, `"@odata.readLink":"`...), row, `",`)
	if n.plan.Explicit {
		return dst
	}
	for _, nav := range n.plan.Set.Type.Navigation {
		path := string(AppendEscaped([]byte("/"), nav.Name))
		dst = n.url(append(append(dst, member(nav.Name+"@odata.associationLink")...), '"'), row, path+`/$ref",`)
		dst = n.url(append(append(dst, member(nav.Name+"@odata.navigationLink")...), '"'), row, path+`",`)
	}
	return dst
}

// transient reports whether a row has no address because a part of its key is null, which no address can name.
func (n *node) transient(row []plan.Value) bool {
	for _, column := range n.plan.Key {
		if row[column].Null {
			return true
		}
	}
	return false
}

// id appends the id of the entity, with a comma behind it; null for one without an address (OData-JSON 4.5.8).
func (n *node) id(dst []byte, row []plan.Value) []byte {
	if n.transient(row) {
		return append(dst, `"@odata.id":null,`...)
	}
	return n.url(append(dst, `"@odata.id":"`...), row, `",`)
}

// errTransient ends an answer whose next link would be below an entity without an address.
var errTransient = errors.New("an entity whose key is null has more related rows than fit on a page, and no address to read them from")

// url appends the URL of the entity, and what follows it, for the inside of a
// JSON string.
func (n *node) url(dst []byte, row []plan.Value, tail string) []byte {
	dst = append(dst, n.root...)
	return append(n.encoder.appendPath(dst, n.plan, row), tail...)
}

// expanded writes the i-th expanded property of the current row, its count and
// its next link, with a comma behind each (OData-JSON 8.3, 4.5.4, 4.5.5). A page that has to end before its first row is not
// read, so its link may lead to an empty page.
func (n *node) expanded(w *Writer, i int, rows plan.Rows) error {
	x := &n.expand[i]
	x.unaddressed = n.transient(rows.Row())
	if !x.plan.Count && x.ended(w) {
		w.Raw(x.name + "[],")
		x.place = x.place[:0]
		return n.linkTo(w, x, rows, x.plan.Page.Skip)
	}
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
	end, err := x.array(w, inner)
	if err != nil {
		return err
	}
	w.buf = append(w.buf, ',')
	switch {
	case end >= 0:
		return n.linkTo(w, x, rows, x.plan.Page.Skip+end)
	case x.plan.Page.Next && inner.More():
		return n.linkTo(w, x, rows, x.plan.Page.NextSkip)
	}
	return nil
}

// linkTo writes the next link of an expanded property of the current row, with a comma behind it.
func (n *node) linkTo(w *Writer, x *expansion, rows plan.Rows, skip int64) error {
	if n.transient(rows.Row()) {
		return errTransient
	}
	w.Raw(x.link)
	w.buf = append(append(w.buf, '"'), n.root...)
	w.buf = x.nextLink(w.buf, append(n.encoder.appendPath(nil, n.plan, rows.Row()), '/'), skip)
	w.buf = append(w.buf, `",`...)
	return nil
}

func (x *expansion) single(w *Writer, rows plan.Rows) error {
	if !rows.Next() {
		w.Raw("null,")
		return rows.Err()
	}
	if err := x.take(); err != nil {
		return err
	}
	w.buf = append(w.buf, '{')
	if err := x.write(w, rows); err != nil {
		return err
	}
	w.buf = append(w.buf, "},"...)
	return nil
}

// nextLink appends the path and the query of the next page, for the inside of a
// JSON string; path is that of the parent, with a slash at its end.
func (x *expansion) nextLink(dst, path []byte, skip int64) []byte {
	path = AppendEscaped(path, x.plan.Nav.Name)
	if x.plan.Ref {
		path = append(path, "/$ref"...)
	}
	dst = append(append(dst, path...), '?')
	if x.plan.Options != "" {
		s := AppendString(nil, x.plan.Options)
		dst = append(append(dst, s[1:len(s)-1]...), '&')
	}
	return append(dst, x.plan.NextOption(string(path), skip, x.place)...)
}

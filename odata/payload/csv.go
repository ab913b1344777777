package payload

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// heldCSV is how many bytes of a page wait for its last row, which decides
// whether there is a next page: the link to it stands in front of the body. They
// stay in memory until the client has taken them, so they are few.
const heldCSV = 4 * blockSize

// CSV writes a collection of entities as RFC 4180 describes it: a header row with
// the names of the properties, those of complex ones as Address/City, in the order of $select where there is one, and a row
// for each entity; fields with a comma, a quote or a line break are quoted. Null is
// an empty field, and so that it stays apart from it, an empty text is "". Cells of
// text that a spreadsheet would take for a formula get an apostrophe in front
// (OWASP, CSV injection). Values are written as in JSON, but without its quotes.
//
// If another page follows, CSV calls next with the query option for it, for the Link header: before the first write
// to the Sink if the page is shorter than 256 KiB, else before the last write. CSV reads the rows to their end and does not
// close them. The plan must have no expanded properties and no total.
func (e *Encoder) CSV(w *Writer, p *plan.Plan, rows plan.Rows, next func(option string)) error {
	c := csvRow{columns: asChosen(csvColumns(nil, "", p.Top.Fields), p.Top.Chosen)}
	w.buf = c.header(w.buf)
	block := blockSize
	if p.Top.Page.Next {
		block = heldCSV
	}
	var place []plan.Value
	for written := int64(1); rows.Next(); written++ {
		if err := e.takeRow(); err != nil {
			return err
		}
		w.buf = c.append(w.buf, rows.Row())
		if p.Top.Cursor != nil && written == p.Top.Page.Rows {
			place = p.Top.Place(place, rows.Row())
		}
		if len(w.buf) < block {
			continue
		}
		block = blockSize
		if err := w.flushIfDue(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if p.Top.Page.Next && rows.More() {
		next(p.Top.NextOption(p.Top.Path, p.Top.Page.NextSkip, place))
	}
	return w.End()
}

// HasCSV tells whether a node has columns that can stand in a table: a property
// that is no stream.
func HasCSV(n *plan.Node) bool { return len(csvColumns(nil, "", n.Fields)) > 0 }

// csvRow writes rows of one shape.
type csvRow struct{ columns []csvColumn }

// csvColumn is one cell of each row.
type csvColumn struct {
	name   string
	typ    edm.Type
	column int
	// defined tells which rows of several structures have the cell; nil for all.
	defined *plan.Defined
}

func (c *csvColumn) absent(row []plan.Value) bool {
	return row[c.column].Null || c.defined != nil && row[c.defined.Column].Int>>c.defined.Bit&1 == 0
}

func csvColumns(dst []csvColumn, prefix string, list []plan.Field) []csvColumn {
	for _, f := range list {
		switch {
		case f.T.Kind == edm.Stream: // its value has a URL of its own
		case f.Column < 0:
			dst = csvColumns(dst, prefix+f.Name+"/", f.Fields)
		default:
			dst = append(dst, csvColumn{name: prefix + f.Name, typ: f.T, column: f.Column, defined: f.Defined})
		}
	}
	return dst
}

// asChosen puts columns into the order in which a client has chosen them. Those that it has not named itself stand where its
// "*" stands.
func asChosen(columns []csvColumn, chosen []string) []csvColumn {
	place := func(name string) int {
		star := len(chosen)
		for i, path := range chosen {
			all, isStar := strings.CutSuffix(path, "*")
			switch {
			case isStar && strings.HasPrefix(name, all):
				star = min(star, i)
			case name == path || strings.HasPrefix(name, path+"/"):
				return i
			}
		}
		return star
	}
	slices.SortStableFunc(columns, func(a, b csvColumn) int { return cmp.Compare(place(a.name), place(b.name)) })
	return columns
}

func (c *csvRow) header(dst []byte) []byte {
	for i, col := range c.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		start := len(dst)
		dst = appendCSVText(dst, []byte(col.name))
		if i == 0 && bytes.HasPrefix(dst, []byte("ID")) { // which is how files of SYLK begin, for Excel
			dst = append(append(dst[:start], '"'), append([]byte(col.name), '"')...)
		}
	}
	return append(dst, '\r', '\n')
}

func (c *csvRow) append(dst []byte, row []plan.Value) []byte {
	for i := range c.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		col := &c.columns[i]
		switch {
		case !col.absent(row):
			dst = appendCSV(dst, &row[col.column], &col.typ)
		case len(c.columns) == 1: // readers pass over lines that are empty
			dst = append(dst, '"', '"')
		}
	}
	return append(dst, '\r', '\n')
}

// appendCSV appends a value that is not null.
func appendCSV(dst []byte, v *plan.Value, t *edm.Type) []byte {
	switch t.Kind {
	case edm.String:
		return appendCSVText(dst, v.Bytes)
	case edm.Binary:
		if len(v.Bytes) == 0 {
			return append(dst, '"', '"')
		}
		return base64.RawURLEncoding.AppendEncode(dst, v.Bytes)
	case edm.Enum: // several flags have commas between them
		return appendCSVField(dst, []byte(EnumText(t.Enum, v.Int)))
	default:
		return AppendText(dst, v, t)
	}
}

// appendCSVText appends a text, with an apostrophe in front of one that a
// spreadsheet would evaluate.
func appendCSVText(dst, s []byte) []byte {
	if !utf8.Valid(s) {
		s = []byte(scalar.Shown(string(s)))
	}
	if len(s) > 0 && bytes.IndexByte([]byte("=+-@\t\r\n"), s[0]) >= 0 {
		s = append([]byte{'\''}, s...)
	}
	return appendCSVField(dst, s)
}

// appendCSVField appends a field, in quotes where it needs them (RFC 4180, 2).
func appendCSVField(dst, s []byte) []byte {
	if len(s) > 0 && s[0] != ' ' && !bytes.ContainsAny(s, ",\"\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(s, '"')
		if i < 0 {
			return append(append(dst, s...), '"')
		}
		dst = append(append(dst, s[:i+1]...), '"')
		s = s[i+1:]
	}
}

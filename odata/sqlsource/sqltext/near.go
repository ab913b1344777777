package sqltext

import (
	"bytes"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A text, a binary, a date, an instant or a GUID that a column of SQLite may store in several forms is compared by the cleaned expression, which
// no index answers. A second condition names the column: it is true wherever the first one is, and an index answers it.

// SQLite stores any bytes as a text. An answer shows a replacement character for each byte that is no UTF-8. The text is ordered, grouped and
// linked by its bytes, so that indexes go on working. A constant without a replacement character is equal to no such text, and is part of
// such a text only where its bytes are. A constant with one is compared with what is shown.

// replacement reports whether an expression is a constant text with a replacement character.
func replacement(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && l.T.Kind == edm.String && bytes.ContainsRune(l.Value.Bytes, utf8.RuneError)
}

func (sqlite) shown(x frag) frag { return fill("ves_shown($1)", x) }

// near returns the second condition for a comparison of a loose column with a constant; empty for none.
func (d sqlite) near(g *Generator, op string, x, y plan.Expr) frag {
	ref, isRef := x.(*plan.Ref)
	l, isLit := y.(*plan.Literal)
	if !isRef || !isLit {
		op = mirrored(op)
		if ref, isRef = y.(*plan.Ref); !isRef {
			return frag{}
		}
		if l, isLit = x.(*plan.Literal); !isLit {
			return frag{}
		}
	}
	c := g.columnOf(ref)
	if d.bare(c) || c.Text || l.Value.Null {
		return frag{}
	}
	switch ref.T.Kind {
	case edm.Date:
		return nearDay(g.raw(ref), op, string(l.Value.Bytes), 0)
	case edm.DateTimeOffset:
		return nearDay(g.raw(ref), op, instant(string(l.Value.Bytes)).Format(time.DateOnly), 1)
	case edm.String:
		return nearText(g.raw(ref), c, op, string(l.Value.Bytes))
	case edm.Binary:
		if op == "eq" {
			return fill("($1 = $2 OR $1 < x'')", g.raw(ref), param(l.Value.Bytes))
		}
	case edm.Guid:
		if op == "eq" {
			return nearGUID(g.raw(ref), strings.ToLower(string(l.Value.Bytes)))
		}
	}
	return frag{}
}

// nearDay bounds texts that begin with a day, which an offset moves by so many days, and takes all numbers in: these may be
// seconds, and come before all texts.
func nearDay(column frag, op, day string, offset int) frag {
	t, err := time.Parse(time.DateOnly, day)
	first, last := t.AddDate(0, 0, -offset), t.AddDate(0, 0, offset+1)
	if err != nil || first.Year() < 1 || last.Year() > 9999 {
		return frag{}
	}
	from, to := param(first.Format(time.DateOnly)), param(last.Format(time.DateOnly))
	switch op {
	case "gt", "ge":
		return fill("($1 >= $2 OR $1 < '')", column, from)
	case "lt", "le":
		return fill("$1 < $2", column, to)
	case "eq":
		return fill("($1 >= $2 AND $1 < $3 OR $1 < '')", column, from, to)
	}
	return frag{}
}

// nearText takes in all blobs where these may be near: they come behind all texts, and numbers come before them. A constant that
// looks like a number would be compared as one, unless the column holds no numbers. An explicit collation would keep SQLite
// from its index: equality goes by that of the column, which may take further texts for equal.
func nearText(column frag, c *Column, op, s string) frag {
	numbers := c.Loose != LooseText
	if strings.ContainsRune(s, utf8.RuneError) {
		return frag{}
	}
	if numbers && s != "" && strings.ContainsAny(s[:1], "0123456789+-. \t\n\v\f\r") {
		return frag{}
	}
	switch {
	case op == "eq":
		return fill("($1 = $2 OR $1 = CAST($2 AS BLOB))", column, param(s))
	case c.Collation != "":
	case (op == "gt" || op == "ge") && numbers:
		return fill("($1 >= $2 OR $1 < '')", column, param(s))
	case op == "gt" || op == "ge":
		return fill("$1 >= $2", column, param(s))
	case op == "lt" || op == "le":
		return fill("($1 <= $2 OR $1 >= x'')", column, param(s))
	}
	return frag{}
}

// nearGUID takes in the texts that begin with the first eight digits of a GUID, in either case each, and its bytes.
func nearGUID(column frag, guid string) frag {
	raw, err := hex.DecodeString(strings.ReplaceAll(guid, "-", ""))
	if err != nil || len(guid) != 36 {
		return frag{}
	}
	heads := []string{""}
	for _, digit := range guid[:8] {
		var next []string
		for _, head := range heads {
			next = append(next, head+string(digit))
			if upper := strings.ToUpper(string(digit)); upper != string(digit) {
				next = append(next, head+upper)
			}
		}
		heads = next
	}
	parts := []frag{fill("$1 = $2", column, param(raw))}
	for _, head := range heads {
		// With a hyphen the bounds look like no number, which SQLite would make of them.
		parts = append(parts, fill("$1 >= $2 AND $1 < $3", column, param(head+"-"), param(head+"-~")))
	}
	return fill("($1)", join(" OR ", parts...))
}

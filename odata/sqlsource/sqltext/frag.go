package sqltext

import "strings"

// mark stands for a parameter in a fragment.
const mark = "\x00"

// frag is a piece of SQL with the arguments of its parameters, in order.
type frag struct {
	sql  string
	args []any
}

// dollar stands for a "$" in an identifier, which would otherwise be taken for a place in a template.
const dollar = "\x01"

func text(sql string) frag { return frag{sql: sql} }

func param(v any) frag { return frag{sql: mark, args: []any{v}} }

// fill puts fragments in place of $1, $2 and so on; one that is used twice brings its arguments twice.
func fill(template string, parts ...frag) frag {
	var b strings.Builder
	size, n := lengths(parts)
	b.Grow(len(template) + size)
	args := make([]any, 0, n)
	for i := 0; i < len(template); i++ {
		c := template[i]
		if c != '$' || i+1 == len(template) || template[i+1] < '1' || template[i+1] > '9' {
			b.WriteByte(c)
			continue
		}
		i++
		p := parts[template[i]-'1']
		b.WriteString(p.sql)
		args = append(args, p.args...)
	}
	return frag{b.String(), args}
}

// lengths are how many bytes and arguments fragments have.
func lengths(parts []frag) (size, args int) {
	for i := range parts {
		size += len(parts[i].sql)
		args += len(parts[i].args)
	}
	return size, args
}

// join puts a separator between fragments.
func join(sep string, parts ...frag) frag {
	var b strings.Builder
	size, n := lengths(parts)
	b.Grow(len(sep)*len(parts) + size)
	args := make([]any, 0, n)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(p.sql)
		args = append(args, p.args...)
	}
	return frag{b.String(), args}
}

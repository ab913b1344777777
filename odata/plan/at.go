package plan

// At returns a copy of the plan that reads the one entity with a key, the values of Set.Type.Key. p must have no key.
func (p *Plan) At(key []Value) *Plan {
	out, top, query := *p, *p.Top, *p.Top.Query
	query.Key = query.Range.Is(key)
	top.Query, out.Top = &query, &top
	return &out
}

// Is returns the condition that a row of the range has a key, the values of Set.Type.Key.
func (r *Range) Is(key []Value) Expr {
	parts := make([]Expr, len(key))
	for i := range key {
		ref := r.KeyRef(i)
		parts[i] = Equal(ref, &Literal{T: ref.T, Value: key[i]})
	}
	return Join("and", parts...)
}

// AppendKey appends the key in a row of the node, whose texts are those of the row.
func (n *Node) AppendKey(dst, row []Value) []Value {
	for _, column := range n.Key {
		dst = append(dst, row[column])
	}
	return dst
}

// KeyOf returns a copy of the key in a row of the node.
func (n *Node) KeyOf(row []Value) []Value {
	key := make([]Value, len(n.Key))
	for i, column := range n.Key {
		key[i] = row[column]
		key[i].Bytes = append([]byte(nil), key[i].Bytes...)
	}
	return key
}

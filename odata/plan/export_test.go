package plan

// SpellToken reads a token and writes it again.
func SpellToken(s string) (again string, ok bool) {
	t, ok := parseToken(s)
	return t.String(), ok
}

package reserved

// RoleOwners tells for each plugin role who has it. The zero value is not usable;
// make one with make or a literal. It is not safe for concurrent use.
type RoleOwners map[string]string

// Take gives a role to owner, and reports whether it could: a role has at most one
// owner. first is who had it before, which may be owner itself.
func (o RoleOwners) Take(role, owner string) (first string, ok bool) {
	if first, taken := o[role]; taken {
		return first, false
	}
	o[role] = owner
	return "", true
}

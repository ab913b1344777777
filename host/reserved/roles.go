package reserved

// RoleOwners tells for each plugin role who has it. The zero value is not usable;
// make one with make or a literal. It is not safe for concurrent use.
type RoleOwners map[string]string

// shared is the role that any number of plugins may have.
const shared = "listener"

// Take gives a role to owner, and reports whether it could: a role has at most one
// owner, except that of listeners, which several have. first is who had it before, which
// may be owner itself.
func (o RoleOwners) Take(role, owner string) (first string, ok bool) {
	if role == shared {
		role += " of " + owner // who may not have it twice
	}
	if first, taken := o[role]; taken {
		return first, false
	}
	o[role] = owner
	return "", true
}

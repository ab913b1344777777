package reserved

// RoleOwners tells for each plugin role who has it. The zero value is not usable;
// make one with make or a literal. It is not safe for concurrent use.
type RoleOwners map[string]string

// shared reports whether any number of plugins may have a role.
func shared(role string) bool {
	return role == "listener" || role == "dispenser" || role == "identity_provider" || role == "validator"
}

// Take gives a role to owner, and reports whether it could: a role has at most one
// owner, except those of listeners, dispensers, identity providers and validators, which
// several plugins have, each once.
// first is who had it before, which may be owner itself.
func (o RoleOwners) Take(role, owner string) (first string, ok bool) {
	if first, taken := o[role]; taken {
		return first, false
	}
	if shared(role) {
		role += " of " + owner
	}
	if first, taken := o[role]; taken {
		return first, false
	}
	o[role] = owner
	return "", true
}

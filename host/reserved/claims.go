package reserved

import "slices"

// VerifyAudience is the audience of the assertions of /auth/verify, and the route of
// the machine tokens that open it. No route that takes tokens, or whose assertions are
// signed as well, may have the name.
const VerifyAudience = "verify"

// Claim reports whether an assertion says something of its own under this name, in
// whatever case, so that no column of users can be told under it.
func Claim(name string) bool {
	return slices.Contains([]string{
		"iss", "aud", "sub", "email", "name", "step", "sid", "auth_time", "amr", "iat", "nbf", "exp", "jti",
	}, Fold(name))
}

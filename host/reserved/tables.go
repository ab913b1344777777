package reserved

import (
	"slices"
	"strings"
)

// The stock tables.
const (
	UsersTable  = "users"
	ResetsTable = "password_reset_tokens"
)

// Table reports whether a table is the host's own or holds its users' credentials,
// whatever schema and quotes its name is written with. Such a table is never
// exposed.
func Table(name string) bool {
	name = bare(name)
	return name == UsersTable || name == ResetsTable || strings.HasPrefix(name, "vestibule_")
}

// SessionTable reports whether a well-known framework keeps sessions, tokens or
// password hashes in a table of this name. Such a table is exposed only when it is
// named, and never by a pattern such as "*".
func SessionTable(name string) bool { return slices.Contains(sessionTables(), bare(name)) }

func sessionTables() []string {
	return []string{
		// Laravel: sessions, Sanctum and Passport.
		"sessions", "password_resets", "personal_access_tokens",
		"oauth_access_tokens", "oauth_auth_codes", "oauth_refresh_tokens", "oauth_clients", "oauth_device_codes",
		// Django and its REST framework; django-otp.
		"django_session", "auth_user", "authtoken_token", "otp_totp_totpdevice", "otp_static_statictoken",
		// ASP.NET Identity.
		"aspnetusers", "aspnetusertokens", "aspnetuserlogins",
		// Spring Session and Spring Security.
		"spring_session", "spring_session_attributes", "persistent_logins", "oauth2_authorization", "oauth2_authorized_client",
		// Symfony, Doctrine and CodeIgniter.
		"reset_password_request", "rememberme_token", "ci_sessions",
		// connect-pg-simple and Auth.js.
		"session", "verification_token", "verification_tokens",
		// Phoenix and Devise.
		"users_tokens", "user_tokens", "jwt_denylist",
	}
}

// bare is the folded name without schema and quotes.
func bare(name string) string {
	name = Fold(name)
	return strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"'`[] \t")
}

package reserved

// The columns of users that hold credentials.
const (
	PasswordColumn = "password"
	RememberColumn = "remember_token"
)

// Credential reports whether a column of users holds a credential. No plugin, row
// policy or client ever reads or sets one.
func Credential(column string) bool {
	switch Fold(column) {
	case PasswordColumn, RememberColumn:
		return true
	}
	return false
}

// Identity reports whether a column of users is id, name or email, which every
// application learns.
func Identity(column string) bool {
	return column == "id" || column == "name" || column == "email"
}

// Writable reports whether a plugin may be allowed to change a column of users:
// neither a credential nor what identifies the person, which are the key, the mail
// address and the column that people sign in with.
func Writable(column, loginField string) bool {
	switch Fold(column) {
	case "id", "email", Fold(loginField):
		return false
	}
	return !Credential(column)
}

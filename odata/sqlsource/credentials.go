package sqlsource

import (
	"slices"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// credential tells whether a column's name says that it holds what somebody proves who they are with, or pays with. It
// is a guess that would rather hide too much. What only tells about people, such as an IBAN, is not meant.
func credential(column string) bool {
	if holds(column, "password", "passwd", "passphrase", "passcode", "passkey", "secret", "token", "credential", "passwort", "kennwort") {
		return true
	}
	words := strings.Fields(strings.ToLower(edm.Readable(makeIdentifier(column))))
	joined := strings.Join(words, "")
	if holds(joined, "apikey", "privatekey", "accesskey", "authkey", "signingkey", "encryptionkey", "sshkey", "recoverycode", "backupcode", "cardnumber", "creditcard", "socialsecurity") {
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool {
		word = strings.TrimRightFunc(word, unicode.IsDigit)
		return strings.HasSuffix(word, "hash") || slices.Contains([]string{
			"pass", "pwd", "pw", "salt", "pin", "otp", "totp", "hotp", "cvv", "cvc", "ssn",
		}, word)
	})
}

// secretColumns are the columns of a table that look like credentials, by their own names or by those that they refer to.
func secretColumns(t *introspect.Table) []string {
	var out []string
	for _, c := range t.Columns {
		refers := slices.ContainsFunc(t.Foreign, func(f introspect.ForeignKey) bool {
			at := slices.Index(f.Columns, c.Name)
			return at >= 0 && at < len(f.Referenced) && credential(f.Referenced[at])
		})
		if refers || credential(c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// withoutCredentials are the discovered sets with the columns hidden that look like credentials. left tells of the tables
// whose key does, which cannot be hidden.
func (b *builder) withoutCredentials() (sets []EntitySet, left []string) {
	for _, s := range b.sets {
		out := EntitySet{Name: s.edm.Name, Table: strings.Join(tableName(s.table), "."), Hide: secretColumns(s.table)}
		inKey := slices.IndexFunc(out.Hide, func(column string) bool { return s.edm.Type.IsKey(s.prop[column]) })
		if inKey >= 0 {
			left = append(left, out.Table+": its key "+out.Hide[inKey]+" looks like a credential; write a set for it where it is none")
			continue
		}
		sets = append(sets, out)
	}
	return sets, left
}

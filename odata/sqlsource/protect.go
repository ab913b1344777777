package sqlsource

import (
	"slices"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// hostPrefix begins the names of a host's own tables: hashes of tokens, mails that wait, and people's addresses are in
// columns that no word gives away.
const hostPrefix = "vestibule_"

// protected reports whether a table must not be exposed. name is how it was asked for; t is nil when there is no such
// table. hide are the columns that clients do not get.
func (b *builder) protected(name string, t *introspect.Table, hide ...string) bool {
	if b.cfg.Protected != nil {
		return b.cfg.Protected(name) || t != nil && b.cfg.Protected(t.Name)
	}
	if t == nil {
		return false
	}
	credentials := slices.ContainsFunc(t.Columns, func(c introspect.Column) bool {
		hidden := func(h string) bool { return sameName(h, c.Name) }
		return holds(c.Name, "password", "secret", "token") && !slices.ContainsFunc(hide, hidden)
	})
	return credentials || strings.HasPrefix(strings.ToLower(t.Name), hostPrefix)
}

// passedOver reports whether a pattern leaves the table out.
func (b *builder) passedOver(t *introspect.Table) bool {
	if b.cfg.PassOver != nil {
		return b.cfg.PassOver(t.Name)
	}
	return holds(t.Name, "session")
}

func holds(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// tableNames are the tables that a message may suggest.
func (b *builder) tableNames() []string {
	var names []string
	for _, t := range b.tables {
		if !b.protected(t.Name, t) {
			names = append(names, strings.Join(tableName(t), "."))
		}
	}
	return names
}

// credential reports whether a column, by its name, holds what somebody proves who they are with, or pays with. It
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

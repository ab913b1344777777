package password

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed common.txt
var commonPasswords string

// The codes of what is wrong with a new password. They are part of the public
// contract.
const (
	TooShort  = "password_too_short"
	TooLong   = "password_too_long"
	TooCommon = "password_too_common"
)

// Check returns the code of what is wrong with a new password, or "": it must have
// minLength characters, and be neither common nor one of the known texts, such as
// the address and the name. A common password is refused doubled or decorated as
// well.
func Check(password string, minLength int, known ...string) string {
	if utf8.RuneCountInString(password) < minLength {
		return TooShort
	}
	lower := strings.ToLower(password)
	guessable := func(word string) bool {
		return common(word) || common(core(word)) || isKnown(word, known)
	}
	if guessable(lower) || runs(lower) || repeats(lower, guessable) {
		return TooCommon
	}
	return ""
}

// isKnown reports whether a password is one of the known texts, or one of them
// with decoration; of an address also the part before the @.
func isKnown(lower string, known []string) bool {
	for _, word := range known {
		word = strings.ToLower(strings.TrimSpace(word))
		name, _, _ := strings.Cut(word, "@")
		if word != "" && (lower == word || lower == name || core(word) != "" && core(lower) == core(word)) {
			return true
		}
	}
	return false
}

// A PolicyError is the error of a password that the rules refuse.
type PolicyError struct {
	// Code is one of the codes above.
	Code string
	// MinLength is what the rules demand.
	MinLength int
}

// Error returns the code and, for an operator who reads it, what to choose
// instead.
func (e *PolicyError) Error() string {
	switch e.Code {
	case TooShort:
		return fmt.Sprintf("%s: use at least %d characters", e.Code, e.MinLength)
	case TooLong:
		return fmt.Sprintf("%s: use at most %d bytes, as bcrypt reads no more", e.Code, maxBcryptBytes)
	}
	return e.Code + ": choose one that is not in every list, and neither the name nor the address"
}

func common(word string) bool {
	return word != "" && !strings.ContainsAny(word, "\n#") && strings.Contains(commonPasswords, "\n"+word+"\n")
}

// core is a password without the decoration that people add to a common one:
// digits and signs around it, and letters written as digits.
func core(lower string) string {
	letters := strings.TrimFunc(lower, func(c rune) bool { return !unicode.IsLetter(c) })
	if letters == "" {
		return ""
	}
	// "p@ssw0rd2024!" ends in decoration, but "@" and "0" inside stand for letters.
	plain := strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "0", "o", "$", "s", "5", "s", "7", "t").Replace(letters)
	return strings.Join(strings.FieldsFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) }), "")
}

// repeats reports whether a password is up to four characters over and over, or
// something guessable over and over with or without decoration: around it, or
// between the units, as in "password-password1".
func repeats(lower string, guessable func(string) bool) bool {
	isLetter := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	not := func(is func(rune) bool) func(rune) bool { return func(c rune) bool { return !is(c) } }
	for i, form := range []string{
		lower,
		strings.TrimFunc(lower, not(unicode.IsLetter)),
		strings.Join(strings.FieldsFunc(lower, not(isLetter)), ""),
		strings.Join(strings.FieldsFunc(lower, not(unicode.IsLetter)), ""),
		core(lower),
	} {
		s := []rune(form)
		for unit := 1; unit*2 <= len(s); unit++ {
			bare := i == 0 && unit <= 4
			if periodic(s, unit) && (bare || len(s)%unit == 0 && guessable(string(s[:unit]))) {
				return true
			}
		}
	}
	return false
}

// periodic reports whether s goes on as its first n characters.
func periodic(s []rune, n int) bool {
	for i := n; i < len(s); i++ {
		if s[i] != s[i-n] {
			return false
		}
	}
	return true
}

// runs reports whether a password goes along the alphabet, the digits or a row of
// the keyboard, in either direction.
func runs(lower string) bool {
	rows := []string{"abcdefghijklmnopqrstuvwxyz", "01234567890123456789", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm"}
	for _, row := range rows {
		back := []byte(row)
		for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
			back[i], back[j] = back[j], back[i]
		}
		if strings.Contains(row, lower) || strings.Contains(string(back), lower) {
			return true
		}
	}
	return false
}

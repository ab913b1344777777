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

// Check returns the code of what is wrong with a new password, or "": it
// must have minLength characters, and be neither common nor made of what
// everybody knows about the person, such as the address and the name.
func Check(password string, minLength int, known ...string) string {
	if utf8.RuneCountInString(password) < minLength {
		return "password_too_short"
	}
	lower := strings.ToLower(password)
	for _, word := range known {
		word = strings.ToLower(strings.TrimSpace(word))
		name, _, _ := strings.Cut(word, "@")
		if word != "" && (lower == word || lower == name || core(word) != "" && core(lower) == core(word)) {
			return "password_too_common"
		}
	}
	if common(lower) || common(core(lower)) || repeats(lower) || runs(lower) {
		return "password_too_common"
	}
	return ""
}

// A PolicyError is the error of a password that the rules refuse.
type PolicyError struct {
	// Code is password_too_short or password_too_common.
	Code string
	// MinLength is what the rules demand.
	MinLength int
}

// Error says what to do.
func (e *PolicyError) Error() string {
	if e.Code == "password_too_short" {
		return fmt.Sprintf("password_too_short: use at least %d characters", e.MinLength)
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

// repeats reports whether a password is one unit of up to four characters, over
// and over.
func repeats(lower string) bool {
	s := []rune(lower)
	for unit := 1; unit <= 4 && unit*2 <= len(s); unit++ {
		same := true
		for i := unit; i < len(s) && same; i++ {
			same = s[i] == s[i-unit]
		}
		if same {
			return true
		}
	}
	return false
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

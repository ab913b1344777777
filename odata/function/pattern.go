package function

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Bounds of what all engines repeat, and of the parts of a class of characters.
const (
	maxRepeat = 255 // PostgreSQL's DUPMAX
	maxRanges = 100
)

// pattern writes a regular expression of Go anew, in what means the same to Go, to PostgreSQL and, when a line ends with
// NUL, to PCRE: classes as ranges of code points, a dot as everything but a newline, and no groups that capture. What is
// greedy makes no difference to whether there is a match. The error names what has no such form.
func pattern(text string) (portable string, err error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := writePattern(&b, re); err != nil {
		return "", err
	}
	return b.String(), nil
}

// differsError is a part of a pattern that the engines read differently.
type differsError string

func (e differsError) Error() string { return string(e) }

func writePattern(b *strings.Builder, re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpEmptyMatch:
		b.WriteString("(?:)")
	case syntax.OpLiteral:
		return writeLiteral(b, re)
	case syntax.OpCharClass:
		return writeClass(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString("[^\n]")
	case syntax.OpAnyChar:
		b.WriteString("(?:[^\n]|\n)")
	case syntax.OpBeginText:
		b.WriteByte('^')
	case syntax.OpEndText:
		b.WriteByte('$')
	case syntax.OpCapture:
		return writeGroup(b, re.Sub)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return writeRepeat(b, re)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if err := writePattern(b, sub); err != nil {
				return err
			}
		}
	case syntax.OpAlternate:
		return writeGroup(b, re.Sub)
	default: // word boundaries, lines, and what matches nothing
		return differsError(re.String())
	}
	return nil
}

// writeGroup writes alternatives.
func writeGroup(b *strings.Builder, alternatives []*syntax.Regexp) error {
	b.WriteString("(?:")
	for i, sub := range alternatives {
		if i > 0 {
			b.WriteByte('|')
		}
		if err := writePattern(b, sub); err != nil {
			return err
		}
	}
	b.WriteByte(')')
	return nil
}

func writeRepeat(b *strings.Builder, re *syntax.Regexp) error {
	if re.Op == syntax.OpRepeat && (re.Min > maxRepeat || re.Max > maxRepeat) {
		return differsError(re.String())
	}
	if err := writeGroup(b, re.Sub); err != nil {
		return err
	}
	switch {
	case re.Op == syntax.OpStar:
		b.WriteByte('*')
	case re.Op == syntax.OpPlus:
		b.WriteByte('+')
	case re.Op == syntax.OpQuest:
		b.WriteByte('?')
	case re.Max < 0:
		fmt.Fprintf(b, "{%d,}", re.Min)
	default:
		fmt.Fprintf(b, "{%d,%d}", re.Min, re.Max)
	}
	return nil
}

func writeLiteral(b *strings.Builder, re *syntax.Regexp) error {
	for _, r := range re.Rune {
		if re.Flags&syntax.FoldCase != 0 {
			if err := writeClass(b, sameButCase(r)); err != nil {
				return err
			}
			continue
		}
		if err := writeRune(b, r); err != nil {
			return err
		}
	}
	return nil
}

// sameButCase is the class of a letter in all cases.
func sameButCase(r rune) []rune {
	class := []rune{r, r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		class = append(class, other, other)
	}
	return class
}

// writeClass writes ranges of characters, as those that are not in them where they go up to the last one.
func writeClass(b *strings.Builder, ranges []rune) error {
	not := ""
	if len(ranges) > 0 && ranges[len(ranges)-1] == unicode.MaxRune {
		not, ranges = "^", complement(ranges)
	}
	if len(ranges) == 0 || len(ranges) > 2*maxRanges {
		return differsError("a class of too many or no characters")
	}
	b.WriteString("[" + not)
	for pair := range slices.Chunk(ranges, 2) {
		if err := writeRune(b, pair[0]); err != nil {
			return err
		}
		if pair[1] == pair[0] {
			continue
		}
		b.WriteByte('-')
		if err := writeRune(b, pair[1]); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// complement gives the ranges between those of a class.
func complement(ranges []rune) (out []rune) {
	next := rune(0)
	for pair := range slices.Chunk(ranges, 2) {
		if pair[0] > next {
			out = append(out, next, pair[0]-1)
		}
		next = pair[1] + 1
	}
	return out
}

// writeRune writes a character, within a class or not. Databases have no text with NUL or with half a character.
func writeRune(b *strings.Builder, r rune) error {
	if r == 0 || r >= 0xd800 && r <= 0xdfff {
		return differsError("a character that no text has")
	}
	if r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r > ' ' {
		b.WriteByte('\\')
	}
	b.WriteRune(r)
	return nil
}

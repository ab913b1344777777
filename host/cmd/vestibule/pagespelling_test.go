package main

import (
	"regexp"
	"testing"
)

// Texts for people have one spelling, the British one, with -ise. Code, names of others
// and what stands in quotation marks on a screen are as they are.
func TestPagesSpellOneWay(t *testing.T) {
	t.Parallel()
	american := regexp.MustCompile(`(?i)\b(?:colors?|behaviors?|favorites?|centers?|centered|labeled|canceled|traveled|modeled|catalogs?|gray|defense|offense|fulfill|enrollment|` +
		`licenses|authoriz(?:e|es|ed|ing)|analyz(?:e|es|ed|ing)|(?:organ|normal|recogn|serial|summar|custom|synchron|optim|minim|real|initial|general|categor|standard|final|local|character)iz(?:e|es|ed|ing|ation|ations)|artifacts?)\b`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]+`|<[^>]+>|\\]\\([^)]*\\)|\\*[^*\n]+\\*")
	for page, text := range pages(t) {
		for _, word := range american.FindAllString(code.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s: %q is no British spelling", page, word)
		}
	}
}

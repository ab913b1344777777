package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// words are what the person reads.
type words struct{ noName, reserved, billing string }

func wordsIn(locale string) words {
	if lang, _, _ := strings.Cut(locale, "-"); lang == "de" {
		return words{
			noName:   "Der Name der Organisation muss mindestens einen Buchstaben enthalten.",
			reserved: "Dieser Name ist vergeben. Bitte wenden Sie sich an uns, wenn es Ihre Organisation ist.",
			billing:  "Ab dieser Größe brauchen wir eine Adresse für Rechnungen.",
		}
	}
	return words{
		noName:   "The name of the organisation must have at least one letter.",
		reserved: "This name is taken. Please get in touch if the organisation is yours.",
		billing:  "For an organisation of this size we need an address for invoices.",
	}
}

// judge returns false and the answer for a form that does not do.
func (o *orgs) judge(form pluginsdk.OrgForm, w words) (pluginsdk.Result, bool) {
	if !strings.ContainsFunc(form.OrgName, unicode.IsLetter) {
		return pluginsdk.Failed(w.noName), false
	}
	if slices.ContainsFunc(o.config.Reserved, func(name string) bool { return plain(name) == plain(form.OrgName) }) {
		return pluginsdk.Failed(w.reserved), false
	}
	if (form.CompanySize == "mid_market" || form.CompanySize == "enterprise") && form.BillingEmail == "" {
		return pluginsdk.NeedsMoreInput(map[string]any{
			"fields":  map[string]any{"billing_email": []string{"required"}},
			"message": w.billing,
		}), false
	}
	return pluginsdk.Result{}, true
}

// plain is a name without case and without repeated blanks.
func plain(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }

// numberOf makes an organisation's number from its name and legal form, so that
// everybody who names the same organisation gets the same number. It fits into
// the integers that JavaScript keeps exact.
func numberOf(form pluginsdk.OrgForm) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", form.LegalForm, plain(form.OrgName)))
	return int64(binary.BigEndian.Uint64(sum[:8])>>12) + 1
}

package main

import "strings"

// texts are what a person may read.
type texts struct{ noName, reserved, unknown, billing string }

func textsFor(locale string) texts {
	if lang, _, _ := strings.Cut(locale, "-"); strings.EqualFold(lang, "de") {
		return texts{
			noName:   "Der Name der Organisation muss mindestens einen Buchstaben oder eine Ziffer enthalten.",
			reserved: "Dieser Name ist vergeben. Bitte wenden Sie sich an uns, wenn es Ihre Organisation ist.",
			unknown:  "Diese Organisation steht nicht im Verzeichnis. Bitte prüfen Sie die Schreibweise.",
			billing:  "Ab dieser Größe brauchen wir eine Adresse für Rechnungen.",
		}
	}
	return texts{
		noName:   "The name of the organisation must have at least one letter or digit.",
		reserved: "This name is taken. Please get in touch if the organisation is yours.",
		unknown:  "This organisation is not in the directory. Please check the spelling.",
		billing:  "For an organisation of this size we need an address for invoices.",
	}
}

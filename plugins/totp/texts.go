package main

import "strings"

// texts are what a person may read of the plugin itself; all others are the page's.
type texts struct{ wrong, used string }

func textsFor(locale string) texts {
	if lang, _, _ := strings.Cut(locale, "-"); strings.EqualFold(lang, "de") {
		return texts{
			wrong: "Dieser Code stimmt nicht. Bitte prüfen Sie, ob die Uhr des Geräts richtig geht.",
			used:  "Dieser Code wurde schon benutzt. Bitte warten Sie auf den nächsten.",
		}
	}
	return texts{
		wrong: "This code is not right. Please check that the clock of the device is.",
		used:  "This code was used before. Please wait for the next one.",
	}
}

package main

import "strings"

// texts are what a person may read of the plugin itself; all others are the page's.
type texts struct{ wrong, used string }

func textsFor(locale string) texts {
	if lang, _, _ := strings.Cut(locale, "-"); strings.EqualFold(lang, "de") {
		return texts{
			wrong: "Dieser Code stimmt nicht. Geben Sie den neuesten ein; wenn auch er nicht stimmt, prüfen Sie die Uhr Ihres Telefons.",
			used:  "Dieser Code wurde schon benutzt. Bitte warten Sie auf den nächsten.",
		}
	}
	return texts{
		wrong: "That code did not work. Enter the newest one; if it keeps failing, check the clock of your phone.",
		used:  "This code was used before. Please wait for the next one.",
	}
}

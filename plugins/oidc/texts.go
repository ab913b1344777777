package main

import "strings"

// texts are what a person may read.
type texts struct{ denied, again, notYou, unverified, noProof, oldProof string }

func textsFor(locale string) texts {
	if lang, _, _ := strings.Cut(locale, "-"); strings.EqualFold(lang, "de") {
		return texts{
			denied:     "Die Anmeldung wurde dort abgelehnt oder abgebrochen. Bitte versuchen Sie es noch einmal.",
			again:      "Bitte melden Sie sich zuerst dort an und versuchen Sie es dann noch einmal.",
			notYou:     "Mit diesem Konto kann man sich hier nicht anmelden. Bitte nehmen Sie ein anderes oder fragen Sie die Betreiber.",
			unverified: "Die E-Mail-Adresse dieses Kontos ist dort nicht bestätigt. Bitte bestätigen Sie sie dort zuerst.",
			noProof:    "Dieses Konto kann nicht bestätigen, dass Sie sich gerade angemeldet haben. Bitte nehmen Sie einen anderen Weg.",
			oldProof:   "Sie wurden dort nicht neu nach Ihrer Anmeldung gefragt. Bitte melden Sie sich dort ab und versuchen Sie es noch einmal.",
		}
	}
	return texts{
		denied:     "The sign-in was refused or cancelled there. Please try again.",
		again:      "Please sign in there first, and then try again.",
		notYou:     "People cannot sign in here with this account. Please use another one, or ask the people who run this site.",
		unverified: "The email address of this account is not verified there. Please verify it there first.",
		noProof:    "This account cannot confirm that you have just signed in. Please use another way.",
		oldProof:   "You were not asked to sign in there anew. Please sign out there, and try again.",
	}
}

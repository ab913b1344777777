package auth

import "strings"

// browserName names a browser and its system to a person, such as "Firefox (Linux)", by
// the header User-Agent; empty for one that it does not know. It is made of our own
// words alone, since it goes into a mail and anybody writes headers.
func browserName(userAgent string) string {
	// Most browsers name those that they resemble as well: the particular ones come first.
	browser := firstMark(userAgent, [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	})
	system := firstMark(userAgent, [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	})
	if browser == "" || system == "" {
		return ""
	}
	return browser + " (" + system + ")"
}

// firstMark returns the name of the first mark that a text has.
func firstMark(text string, marks [][2]string) string {
	for _, mark := range marks {
		if strings.Contains(text, mark[0]) {
			return mark[1]
		}
	}
	return ""
}

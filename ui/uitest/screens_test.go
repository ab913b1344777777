package uitest

import "testing"

func TestFirst(t *testing.T) {
	h := newHost(t)
	b := open(t)
	b.visit(h.URL + "/login")
	b.see("Welcome")
	b.picture("signin-light")
	b.media("dark")
	b.picture("signin-dark")
	b.media("light")
	h.set("next", orgSetup())
	b.visit(h.URL + "/login?lang=de")
	b.see("Ada")
	b.picture("org-de-light")
	b.media("dark")
	b.size(320, 640)
	b.picture("org-de-dark-320")
}

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// followTOTP follows the page in the folder that init makes, and is the person in a
// browser: the second factor alone first, then the terms behind it.
func followTOTP(t *testing.T, l *learner, text string) {
	l.run("", "vestibule", "init")
	l.env = append(l.env, "PATH="+buildPlugins(t)+":"+os.Getenv("PATH"))
	l.shell("vestibule user add --email ada@example.com --name Ada")
	l.env = append(l.env, "TOTP_KEY="+strings.TrimSpace(l.run("", "openssl", "rand", "-base64", "32")))
	first, then, ok := strings.Cut(text, "## 2. ")
	if !ok {
		t.Fatal("the page has no second part")
	}
	b := browsertest.Open(t, nil)
	l.follow(first)
	l.run("", "vestibule", "check")
	var secret string
	l.serve("", nil, func(base string) {
		signIn(b, base)
		b.At(base + "/second-factor")
		b.Wait(`document.querySelector('#qr path').getAttribute('d')?.length > 100`)
		secret = strings.TrimSpace(b.Text("#shown"))
		b.Fill("[name=code]", "000000")
		b.Click("button[value=confirm]")
		b.Wait(`document.querySelector('#fault').textContent`)
		b.Visit(base + "/odata/") // typed in between, it redirects back
		b.At(base + "/second-factor")
		b.Ready("button[value=confirm]")
		secret = strings.TrimSpace(b.Text("#shown"))
		b.Fill("[name=code]", totpCode(t, secret, time.Now()))
		b.Click("button[value=confirm]")
		b.Ready("button[value=continue]")
		if codes := strings.Fields(b.Text("#shown")); len(codes) < 10 {
			t.Errorf("the recovery codes are %q", codes)
		}
		b.Click("button[value=continue]")
		b.At(base + "/odata/")
	})
	l.follow(then)
	l.replace("config.hcl", "# dispensers     = []", `dispensers = ["totp", "terms"]`)
	if !strings.Contains(then, "`dispensers = [\"totp\", \"terms\"]`") {
		t.Error("the page does not give the order")
	}
	l.run("", "vestibule", "check")
	l.serve("", nil, func(base string) {
		l.run("", "vestibule", "session", "revoke", "--all")
		signIn(b, base)
		b.At(base + "/second-factor")
		b.Ready("button[value=verify]")
		b.Fill("[name=code]", totpCode(t, secret, time.Now().Add(30*time.Second))) // a code counts once
		b.Click("button[value=verify]")
		b.At(base + "/accept-terms")
		b.Ready("button")
		b.Wait(`document.querySelector('button').onclick`)
		b.Click("button")
		b.At(base + "/odata/")
	})
}

// totpCode returns what an authenticator app shows at a time.
func totpCode(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// signIn is Ada's, by the screen.
func signIn(b *browsertest.Tab, base string) {
	b.T.Helper()
	b.Visit(base + "/login")
	b.Ready("#login")
	b.Fill("#login", "ada@example.com")
	b.Fill("#password", "analytical-engine-1843")
	b.Click("button[type=submit]")
}

package main

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func TestEnrolment(t *testing.T) {
	w := newWorld(t)
	b := w.browser("7", "s1")
	b.ask().Holds("/second-factor")
	shown := b.step("enrol")
	secret := shown["secret"].(string)
	if uri := shown["uri"]; uri != "otpauth://totp/Fern%20weh:ada@example.com?algorithm=SHA1&digits=6&issuer=Fern%20weh&period=30&secret="+secret {
		t.Errorf("the URI is %v", uri)
	}
	if len(secret) != 32 || shown["optional"] != false || shown["qr_path"] == "" {
		t.Errorf("the page shows %v", shown)
	}
	if again := b.step("enrol")["secret"]; again != secret {
		t.Error("a page loaded again shows another secret")
	}
	b.ask("action", "skip").Holds("/second-factor")
	b.ask("action", "confirm", "code", "000000").Refuses(textsFor("en").wrong)
	if w.columns["7"] != nil {
		t.Error("a wrong code kept the factor")
	}
	codes := b.step("codes", "action", "confirm", "code", " "+w.code(secret)[:3]+" "+w.code(secret)[3:])["codes"].([]any)
	if len(codes) != recoveryCodes || len(codes[0].(string)) != 19 {
		t.Errorf("the codes are %v", codes)
	}
	if text := w.columns["7"].(string); len(text) > 1000 || strings.Contains(text, secret) {
		t.Errorf("the column holds %d characters: %s", len(text), text)
	}
	if left := b.step("codes")["codes"]; left != nil {
		t.Errorf("the codes are shown again: %v", left)
	}
	b.ask("action", "continue").IsDone()
	if other := w.browser("7", "s2"); other.ask().Intent.Held() == false {
		t.Error("another session passes without a code")
	}
}

func TestCodes(t *testing.T) {
	w := newWorld(t)
	secret, recovery := w.enrolled("7")
	for _, c := range []struct {
		name, code string
		ahead      time.Duration
		want       string
	}{
		{"no code", "", 0, textsFor("en").wrong},
		{"a wrong one", "000000", 0, textsFor("en").wrong},
		{"one that is too old", w.code(secret), 90 * time.Second, textsFor("en").wrong},
		{"one of another person's app", w.code(newSecret()), 0, textsFor("en").wrong},
		{"half of a recovery code", recovery[0][:9], 0, textsFor("en").wrong},
		{"the right one", "right", 0, ""},
		{"the same once more", "right", 0, textsFor("en").used},
		{"the one of before, within the drift", "before", 30 * time.Second, textsFor("en").used},
		{"a recovery code", recovery[3], 0, ""},
		{"the same recovery code", recovery[3], 0, textsFor("en").wrong},
		{"another one, in capitals", strings.ToUpper(recovery[4]), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			right := w.code(secret)
			w.clock = w.clock.Add(c.ahead)
			code := c.code
			if code == "right" || code == "before" {
				code = right
			}
			b := w.browser("7", "session of "+c.name)
			b.ask().Holds("/second-factor")
			b.step("code")
			answer := b.ask("action", "verify", "code", code)
			if c.want == "" {
				answer.IsDone()
				b.ask().IsDone()
				return
			}
			answer.Refuses(c.want)
			b.ask().Holds("/second-factor")
		})
	}
}

// The six digits are those of RFC 6238, appendix B, whose codes have eight.
func TestCodesOfTheStandard(t *testing.T) {
	secret := letters.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		for shift, want := range map[int64]verdict{-60: wrong, -30: right, 0: right, 30: right, 60: wrong} {
			k := kept{Secret: secret}
			if got := k.tryDigits(code, time.Unix(at+shift, 0)); got != want && at+shift > 30 {
				t.Errorf("%s at %d%+d s is %d, want %d", code, at, shift, got, want)
			}
		}
	}
}

// Two sessions of one person post one code at the same moment: the effect of the
// second names a value that the column no longer has.
func TestOneCodeCountsOnce(t *testing.T) {
	w := newWorld(t)
	secret, _ := w.enrolled("7")
	one, two := w.browser("7", "s1"), w.browser("7", "s2")
	one.ask()
	two.ask()
	two.stale = true
	one.ask("action", "verify", "code", w.code(secret)).IsDone()
	two.ask("action", "verify", "code", w.code(secret)).IsDone() // which is not applied
	two.stale = false
	two.ask("action", "verify", "code", w.code(secret)).Refuses(textsFor("en").used)
	two.ask().Holds("/second-factor")
}

func TestChanges(t *testing.T) {
	w := newWorld(t)
	secret, recovery := w.enrolled("7")
	t.Run("new recovery codes", func(t *testing.T) {
		b := w.browser("7", "s1")
		b.ask()
		codes := b.step("codes", "action", "verify", "code", w.code(secret), "then", "codes")["codes"].([]any)
		b.ask("action", "continue").IsDone()
		other := w.browser("7", "s2")
		other.ask()
		other.ask("action", "verify", "code", recovery[0]).Refuses(textsFor("en").wrong)
		other.ask("action", "verify", "code", codes[0].(string)).IsDone()
	})
	t.Run("another app", func(t *testing.T) {
		w.clock = w.clock.Add(time.Minute)
		b := w.browser("7", "s3")
		b.ask()
		fresh := b.step("enrol", "action", "verify", "code", w.code(secret), "then", "factor")["secret"].(string)
		if fresh == secret {
			t.Fatal("the secret is the same")
		}
		b.step("codes", "action", "confirm", "code", w.code(fresh))
		b.ask("action", "continue").IsDone()
		w.clock = w.clock.Add(time.Minute)
		other := w.browser("7", "s4")
		other.ask()
		other.ask("action", "verify", "code", w.code(secret)).Refuses(textsFor("en").wrong)
		other.ask("action", "verify", "code", w.code(fresh)).IsDone()
		secret = fresh
	})
	t.Run("another app after all not", func(t *testing.T) {
		w.clock = w.clock.Add(time.Minute)
		b := w.browser("7", "s5")
		b.ask()
		b.step("enrol", "action", "verify", "code", w.code(secret), "then", "factor")
		b.ask("action", "skip").IsDone()
		w.clock = w.clock.Add(time.Minute)
		other := w.browser("7", "s6")
		other.ask()
		other.ask("action", "verify", "code", w.code(secret)).IsDone()
	})
	t.Run("nothing without a code of this session", func(t *testing.T) {
		b := w.browser("7", "s7")
		b.ask()
		before := w.columns["7"]
		for _, fields := range [][]string{
			{"action", "confirm", "code", "000000"}, {"action", "skip"}, {"action", "continue"}, {"action", "codes"}, {"then", "factor"},
		} {
			b.step("code", fields...)
		}
		b.ask("action", "verify", "code", "000000", "then", "remove").Refuses(textsFor("en").wrong)
		if w.columns["7"] != before {
			t.Error("the factor has changed")
		}
	})
}

func TestOffered(t *testing.T) {
	w := newWorld(t, `"enrol": "offered"`)
	b := w.browser("7", "s1")
	b.ask()
	if b.step("enrol")["optional"] != true {
		t.Error("the page does not know that the factor is optional")
	}
	b.ask("action", "skip").IsDone()
	b.ask().IsDone()
	secret, _ := w.enrolled("7")
	other := w.browser("7", "s2")
	other.ask().Holds("/second-factor")
	other.ask("action", "verify", "code", w.code(secret), "then", "remove").IsDone()
	if w.columns["7"] != nil {
		t.Error("the factor is still there")
	}
}

// A change that one session has begun is not for the next one of a trusted device.
func TestTrustedDevicesChangeNothing(t *testing.T) {
	w := newWorld(t, `"trust_devices": true`)
	secret, _ := w.enrolled("7")
	for _, then := range []string{"codes", "factor"} {
		w.clock = w.clock.Add(time.Minute)
		b := w.browser("7", "before "+then)
		b.ask()
		b.ask("action", "verify", "code", w.code(secret), "then", then).Holds("/second-factor")
		b.session = "after " + then
		before := w.columns["7"]
		b.ask("action", "codes").IsDone()
		b.held = "/second-factor"
		b.ask("", "").IsDone()
		if w.columns["7"] != before {
			t.Errorf("%s: the factor has changed", then)
		}
	}
}

// What is no text is no factor, and no way past one either.
func TestColumnsThatHoldNoText(t *testing.T) {
	w := newWorld(t, `"enrol": "offered"`)
	for _, value := range []pluginsdk.Value{int64(7), true, []byte{0xff}} {
		w.columns["7"] = value
		w.browser("7", "s").ask().Fails("unavailable")
	}
}

// What a session passed is worth nothing to the next one of the same device, unless
// devices are trusted.
func TestDevices(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		more := []string{}
		if trusted {
			more = append(more, `"trust_devices": true`)
		}
		w := newWorld(t, more...)
		secret, _ := w.enrolled("7")
		b := w.browser("7", "s1")
		b.ask()
		b.ask("action", "verify", "code", w.code(secret)).IsDone()
		b.session, b.held = "s2", "/second-factor" // the device has come back
		if passes := !b.ask().Intent.Held(); passes != trusted {
			t.Errorf("trusted %v: it passes: %v", trusted, passes)
		}
	}
}

func TestSealedForOneUserAndKey(t *testing.T) {
	w := newWorld(t)
	w.enrolled("7")
	w.columns["8"] = w.columns["7"]
	w.browser("8", "s1").ask().Fails("unavailable")
	older, err := newVault([]string{testKey})
	if err != nil {
		t.Fatal(err)
	}
	other := base64.StdEncoding.EncodeToString([]byte("another key of two and thirty by"))
	newer, err := newVault([]string{other, testKey})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := newVault([]string{other})
	if err != nil {
		t.Fatal(err)
	}
	var k kept
	text := w.columns["7"].(string)
	for name, c := range map[string]struct {
		v    *vault
		user string
		text string
		ok   bool
	}{
		"the same key":    {older, "7", text, true},
		"an old key":      {newer, "7", text, true},
		"another key":     {alone, "7", text, false},
		"another user":    {older, "17", text, false},
		"another purpose": {older, "7", strings.TrimPrefix(text, sealedPrefix), false},
		"a cut text":      {older, "7", text[:len(text)-3], false},
		"nearly nothing":  {older, "7", sealedPrefix + "AAAA", false},
	} {
		if err := c.v.open(c.user, purposeKept, c.text, &k); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := older.open("7", purposePending, text, &k); err == nil {
		t.Error("it opens for another purpose")
	}
}

func TestConfiguration(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"no key":                {`{"page": "/p", "issuer": "X"}`, "key"},
		"a short key":           {`{"key": "AAAA", "page": "/p", "issuer": "X"}`, "openssl rand -base64 32"},
		"a page elsewhere":      {`{"key": "` + testKey + `", "page": "https://x.example/p", "issuer": "X"}`, "must be a path"},
		"an issuer with colons": {`{"key": "` + testKey + `", "page": "/p", "issuer": "a:b"}`, "colon"},
		"a bad old key":         {`{"key": "` + testKey + `", "old_keys": ["x"], "page": "/p", "issuer": "X"}`, "32 bytes"},
		"another mode":          {`{"key": "` + testKey + `", "page": "/p", "issuer": "X", "enrol": "never"}`, "offered"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := plugintest.ConfigProblems(t, newPlugin(time.Now), plugintest.Config(c.config))
			if len(problems) == 0 || !strings.Contains(problems[0].Path+problems[0].Message, c.want) {
				t.Errorf("the problems are %v, want %q", problems, c.want)
			}
		})
	}
	grants := plugintest.Config(`{"key": "` + testKey + `", "page": "/p", "issuer": "X"}`)
	grants.UserRead, grants.UserWrite = nil, nil
	if problems := plugintest.ConfigProblems(t, newPlugin(time.Now), grants); len(problems) != 2 {
		t.Errorf("without grants the problems are %v", problems)
	}
}

func TestConformance(t *testing.T) {
	plugintest.ConformanceOf(t, conformance.Program{
		Command: []string{plugintest.Build(t, ".")},
		Setup:   plugintest.Config(`{"key": "` + testKey + `", "page": "/p", "issuer": "X"}`),
	})
}

// Recovery codes are marked, right or wrong, and digits never are: a page cannot have a
// guess counted as a recovery.
func TestRecoveryIsMarked(t *testing.T) {
	w := newWorld(t)
	secret, recovery := w.enrolled("7")
	for _, c := range []struct {
		name, code string
		only, mark bool
		passes     bool
	}{
		{"wrong digits", "000000", false, false, false},
		{"nothing", "", false, false, false},
		{"a wrong recovery code", "aaaa-aaaa-aaaa-aaaa", false, true, false},
		{"digits with a tail", w.code(secret) + "x", false, true, false},
		{"right digits, where only a recovery counts", "right", true, false, false},
		{"the digits with blanks and hyphens", "spaced", true, false, false},
		{"a recovery code, where only that counts", recovery[1], true, true, true},
		{"right digits", "right", false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.clock = w.clock.Add(5 * time.Minute)
			code := c.code
			switch right := w.code(secret); code {
			case "right":
				code = right
			case "spaced":
				code = right[:3] + " - " + right[3:]
			}
			b := w.browser("7", "session of "+c.name)
			if a := b.ask(); !a.Intent.Held() {
				t.Fatal("nobody is held")
			}
			if a := b.ask("action", ""); !a.Intent.OffersRecovery() {
				t.Error("the page offers no recovery")
			}
			b.recoveryOnly = c.only
			a := b.ask("action", "verify", "code", code)
			if a.Intent.IsRecovery() != c.mark || a.Intent.Held() == c.passes {
				t.Errorf("marked %v, held %v", a.Intent.IsRecovery(), a.Intent.Held())
			}
			if a.Intent.Held() && !a.Intent.OffersRecovery() {
				t.Error("after a refusal the page offers no recovery")
			}
		})
	}
}

// After a recovery code the person gets to the end even where no guesses are left for
// digits: what comes after it is marked as well, since it holds no guess at the factor.
func TestRecoveryGetsToTheEnd(t *testing.T) {
	for name, steps := range map[string][]string{
		"new recovery codes":        {"verify", "codes", "continue"},
		"another app":               {"verify", "factor", "confirm", "continue"},
		"another app after all not": {"verify", "factor", "skip"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, recovery := w.enrolled("7")
			b := w.browser("7", "s1")
			last := b.ask().Intent
			b.recoveryOnly = true
			code := recovery[0]
			for i := 0; i < len(steps); i++ {
				fields := []string{"action", steps[i], "code", code}
				if steps[i] == "verify" {
					i++
					fields = append(fields, "then", steps[i])
				}
				if !last.OffersRecovery() {
					t.Errorf("the page that posts %v offers no recovery", fields)
				}
				last = b.ask(fields...).Intent
				if !last.IsRecovery() {
					t.Errorf("the answer to %v is not marked", fields)
				}
				if secret, shown := last.NextStep()["secret"].(string); shown {
					code = w.code(secret)
				}
			}
			if last.Held() {
				t.Error("the person is held still")
			}
		})
	}
}

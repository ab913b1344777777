package ui_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui"
)

// codes are what the host can answer with on each screen: the contract's
// sections on sign-in endpoints and on intents and plugins, and what any
// request can meet. Every one needs a text.
func codes() map[string][]string {
	return map[string][]string{
		"login":          {"login_success", "credentials_do_not_match"},
		"loginByEmail":   {"credentials_do_not_match"},
		"forgotPassword": {"reset_link_sent"},
		"setPassword": {
			"reset_success", "reset_failed", "password_too_short", "password_too_long", "password_too_common", "password_confirmation_mismatch",
		},
		"firstPasskey":  {"reset_failed", "passkey_not_accepted"},
		"firstIdentity": {"reset_failed", "identity_contract", "identity_unavailable"},
		"orgSetup":      {"unknown_intent", "intent_not_current", "org_setup_handler_missing", "handler_unavailable"},
		"account":       {"last_way_to_sign_in", "passkey_known", "credentials_do_not_match", "not_found", "too_many", "identity_known", "identity_contract", "identity_unavailable"},
		"common": {
			"confirmation_required", "passkey_not_accepted", "password_sign_in_off", "password_rests",
			"required", "email", "auth_throttle", "unauthenticated", "unsettled", "cross_origin", "route_not_found",
			"dispenser_unavailable", "dispenser_contract",
			"invalid", "invalid_choice", "too_long", "malformed_request", "unsupported_media_type", "request_too_large",
			"method_not_allowed", "misdirected_request", "not_found", "internal_error", "upstream_unavailable", "unavailable", "busy", "database_unavailable",
		},
		"language": {"en", "de"}, // as the bootstrap data name them
		"error":    errorPageKeys(),
	}
}

// errorPageKeys are what host/frontend puts on the error pages: a title and a text
// for each status, and a text of its own for some codes.
func errorPageKeys() []string {
	keys := []string{
		"home", "back", "again", "againAccount", "retry", "retryIn", "cross_origin", "route_not_found", "dispenser_contract", "auth_throttle", "confirmation_required",
		"identity_state", "identity_refused", "identity_unknown", "identity_inactive", "identity_taken", "identity_proof", "identity_contract", "identity_unavailable",
	}
	for _, status := range []string{"400", "403", "404", "405", "421", "429", "500", "502", "503"} {
		keys = append(keys, "title."+status, "text."+status)
	}
	for _, what := range []string{"encoded_slash", "backslash", "parameter", "encoded_twice", "dot_segment", "empty_segment", "letter_case", "trailing_dot_or_blank", "encoded_mark"} {
		keys = append(keys, "path."+what)
	}
	return keys
}

// bundle reads the simple lines that our bundles consist of; the reader that
// knows the whole format is tested in test/i18n.test.ts.
func bundle(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if _, twice := out[key]; !ok || twice || strings.TrimSpace(value) == "" {
			t.Errorf("line %d: %q is no key of its own with a text", i+1, line)
		}
		out[key] = value
	}
	return out
}

func bundles(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, name := range []string{"messagebundle.properties", "messagebundle_en.properties", "messagebundle_de.properties"} {
		out[name] = bundle(t, read(t, "i18n/"+name))
	}
	return out
}

func TestBundlesInDistAreTheSources(t *testing.T) {
	for name := range bundles(t) {
		source, err := os.ReadFile(filepath.Join("i18n", name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(source), read(t, "i18n/"+name)); d != "" {
			t.Errorf("%s: run make ui\n%s", name, d)
		}
	}
}

func TestEveryKeyInEveryLanguage(t *testing.T) {
	all := bundles(t)
	want := slices.Sorted(maps.Keys(all["messagebundle.properties"]))
	for name, texts := range all {
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(texts))); d != "" {
			t.Errorf("%s differs from the default (-default +this):\n%s", name, d)
		}
	}
}

func TestSameParametersInEveryLanguage(t *testing.T) {
	parameter := regexp.MustCompile(`\{\d\}`)
	all := bundles(t)
	for key, text := range all["messagebundle.properties"] {
		want := slices.Sorted(slices.Values(parameter.FindAllString(text, -1)))
		for name, texts := range all {
			got := slices.Sorted(slices.Values(parameter.FindAllString(texts[key], -1)))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s has other parameters than the default:\n%s", name, key, d)
			}
		}
	}
}

func TestEveryCodeHasAText(t *testing.T) {
	texts := bundles(t)["messagebundle.properties"]
	for screen, list := range codes() {
		for _, code := range list {
			key := screen + "." + code
			if texts[key] == "" && texts[key+".other"] == "" {
				t.Errorf("no text for %s", key)
			}
		}
	}
}

// A key is used when the sources name it, when it is a code of the host, or
// when it is a value of a choice, whose keys are put together.
func TestNoKeyMissingOrUnused(t *testing.T) {
	texts := bundles(t)["messagebundle.properties"]
	known := func(key string) bool { return texts[key] != "" || texts[key+".one"] != "" && texts[key+".other"] != "" }
	used := usedKeys(t)
	for key, is := range used {
		if is && !known(key) {
			t.Errorf("the sources use %s, which no bundle has", key)
		}
	}
	for screen, list := range codes() {
		for _, code := range list {
			used[screen+"."+code] = true
		}
	}
	for key := range texts {
		base := strings.TrimSuffix(strings.TrimSuffix(key, ".one"), ".other")
		if !used[key] && !used[base] {
			t.Errorf("%s is in the bundles, and nothing uses it", key)
		}
	}
}

// usedKeys finds the keys in the sources and in the build, which takes the
// noscript text.
func usedKeys(t *testing.T) map[string]bool {
	t.Helper()
	literal := regexp.MustCompile(`'((?:common|login|forgotPassword|setPassword|firstPasskey|firstIdentity|orgSetup|onward|signOut|account|explorer|chart|columns|counts|export|facets|form|help|ui5)\.[A-Za-z_.]+)'`)
	short := regexp.MustCompile(`\b(?:text|choices)\('([A-Za-z]+)'(?:, \[([^\]]*)\])?`)
	used := map[string]bool{}
	for _, dir := range []string{"src", "tools", "ui5/src"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			for _, m := range literal.FindAllStringSubmatch(string(data), -1) {
				used[m[1]] = m[1] != "explorer.html" && m[1] != "account.js" // files
			}
			if filepath.Base(name) != "org-setup.ts" {
				return err
			}
			for _, m := range short.FindAllStringSubmatch(string(data), -1) {
				if m[2] == "" {
					used["orgSetup."+m[1]] = true
				}
				for _, value := range regexp.MustCompile(`'([^']+)'`).FindAllStringSubmatch(m[2], -1) {
					used["orgSetup."+m[1]+"."+value[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return used
}

func ExampleFS() {
	manifest, err := fs.ReadFile(ui.FS(), "manifest.json")
	fmt.Printf("%s%v\n", manifest, err)
	// Output:
	// {"name":"auth","version":"2.0.0","core":"2","entry":"index.html"}
	// <nil>
}

package main

import "testing"

// What go install knows of the commit is in the version of the module.
func TestBuildOfModules(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][2]string{
		"v2.0.0":                               {"v2.0.0", ""},
		"v2.0.0-20261128215500-0123456789ab":   {"0123456789ab", "2026-11-28T21:55:00Z"},
		"v2.0.1-0.20261128215500-0123456789ab": {"0123456789ab", "2026-11-28T21:55:00Z"},
		"(devel)":                              {"", ""},
		"":                                     {"", ""},
	} {
		if commit, date := ofModule(version); commit != want[0] || date != want[1] {
			t.Errorf("the build of %q is %q, %q, want %q", version, commit, date, want)
		}
	}
}

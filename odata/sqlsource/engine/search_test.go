package engine_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestSearches holds what searches in the form of ves_search find.
func TestSearches(t *testing.T) {
	texts := []string{"an anvil: heavy", "äpfel"}
	for search, want := range map[string]bool{
		"=5:anvil":                     true,
		"=4:Anvi":                      false,
		"=1::":                         true,
		"=0:":                          true,
		"=3:äp":                        true,
		"!1:=5:anvil":                  false,
		"&2:=5:anvil=6:äpfel":          true,
		"&2:=3:zzz=6:äpfel":            false,
		"|2:=3:zzz=6:äpfel":            true,
		"|3:=3:zzz=3:yyy=3:xxx":        false,
		"&2:|2:=5:anvil=3:zzz!1:=1:z":  true,
		"|2:&2:=1:z=5:anvil!1:=3:äp":   false,
		"!1:|2:=1:z!1:&2:=1:z=2:an":    false,
		"&0:":                          true,
		"|0:":                          true,
		"&3:=2:an|2:=1:z=3:äp!1:=2:zz": true,
	} {
		if got, err := engine.Finds(search, texts); got != want || err != nil {
			t.Errorf("%s: %t, %v", search, got, err)
		}
	}
}

// FuzzSearch holds that no text stops ves_search, and that it ends.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"", "=", ":", "=5:anvil", "&2:=1:a", "!1:!1:=1:a", "|9:", "=-1:a", "&99999999999999999999:", "x1:=1:a", "=1:ab"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, search string) {
		_, _ = engine.Finds(search, []string{"a", "b"})
	})
}

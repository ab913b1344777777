package main

import "testing"

func TestAddedWords(t *testing.T) {
	const diff = `+++ a/x.go
@@ -3,0 +4,2 @@ func f() {
+	n := 1 // X tells whether it came
+	s := "tells whether"
+++ README.md
@@ -1 +1 @@
+The room for it. ` + "`leads`" + ` is code.
`
	got := map[string]int{}
	for _, l := range added(diff) {
		for _, r := range rules {
			for _, word := range r.banned.FindAllString(l.prose(), -1) {
				got[l.file+": "+word] = l.number
			}
		}
	}
	want := map[string]int{"a/x.go: tells whether": 4, "a/x.go: came": 4, "README.md: room for": 1}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: line %d, want %d", k, got[k], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %v", got)
	}
}

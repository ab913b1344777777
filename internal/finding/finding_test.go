package finding_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

func TestError(t *testing.T) {
	for want, f := range map[string]finding.Finding{
		`entity_set.Products.hide: no column "x": take it out`: {Path: []string{"entity_set", "Products", "hide", "0"}, What: `no column "x"`, Remedy: "take it out"},
		`entity_set."a b": wrong`:                              {Path: []string{"entity_set", "a b"}, What: "wrong"},
		"wrong: mend it":                                       {What: "wrong", Remedy: "mend it"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestIn(t *testing.T) {
	a, b := finding.Finding{What: "a"}, finding.Finding{What: "b", Remedy: "mend b"}
	plain := errors.New("plain")
	found, others := finding.In(errors.Join(a, plain, fmt.Errorf("outer: %w", errors.Join(b))))
	if diff := cmp.Diff([]finding.Finding{a, b}, found); diff != "" {
		t.Error(diff)
	}
	if len(others) != 1 || !errors.Is(others[0], plain) {
		t.Errorf("others %v", others)
	}
	if found, others := finding.In(nil); found != nil || others != nil {
		t.Errorf("nil holds %v, %v", found, others)
	}
}

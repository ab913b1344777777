package odata_test

import (
	"bytes"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// TestTagKey holds that answers with equal bytes have equal tags on services that share a key, and on no others, and that
// the tag of each answer is its own.
func TestTagKey(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	key := first
	keyed := func(key func() []byte) *odata.Service {
		return service(t, &numbers{total: 3}, func(o *odata.Options, _ *edm.Model) { o.TagKey = key })
	}
	one, other := keyed(func() []byte { return key }), keyed(func() []byte { return first })
	plain, short := keyed(nil), keyed(func() []byte { return first[:31] })
	tag := func(s *odata.Service, target string) string {
		return get(t, s, "/odata/"+target).Header().Get("ETag")
	}
	seen := map[string]string{}
	for _, target := range []string{"Numbers", "Numbers?$top=1", "Numbers(1)", "Numbers(2)", "Numbers/$count", "Numbers?$top=0"} {
		got := tag(one, target)
		if len(got) != len(`W/""`)+16 || got != tag(other, target) || got != tag(one, target) {
			t.Errorf("%s has the tags %s and %s", target, got, tag(other, target))
		}
		if want := tag(plain, target); got == want || want != tag(short, target) {
			t.Errorf("%s has the tag %s, without a key %s, with a short one %s", target, got, want, tag(short, target))
		}
		if before, ok := seen[got]; ok {
			t.Errorf("%s and %s have one tag", before, target)
		}
		seen[got] = target
		if w := get(t, other, "/odata/"+target, "If-None-Match", got); w.Code != 304 {
			t.Errorf("%s unchanged on another host: %d", target, w.Code)
		}
	}
	before := tag(one, "Numbers")
	key = second
	if w := get(t, one, "/odata/Numbers", "If-None-Match", before); w.Code != 200 || w.Header().Get("ETag") == before {
		t.Errorf("with another key: %d, and the tag %s again", w.Code, before)
	}
}

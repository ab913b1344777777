package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// signingKeys has three hosts look at the keys at the same moment: on the first start,
// a day later, when it is time for another key, and when the last one has rested.
func signingKeys(t *testing.T, e *env, db *store.DB) {
	const every, settled = 30 * 24 * time.Hour, 48 * time.Hour
	pools := []*store.DB{db, e.pool(), e.pool()}
	for i, round := range []struct {
		after time.Duration
		want  []time.Duration // when the keys are from, the newest first
	}{
		{0, []time.Duration{0}},
		{24 * time.Hour, []time.Duration{0}},
		{every, []time.Duration{every, 0}},
		{every + settled - time.Second, []time.Duration{every, 0}},
		{every + settled, []time.Duration{every}},
		{5 * every, []time.Duration{5 * every, every}},
	} {
		now := e.now.Add(round.after)
		results := make([][]keyring.Key, callers)
		e.together(callers, pools, func(j int, db *store.DB) error {
			var err error
			fresh := keyring.Key{Created: now, Secret: hash(byte(i*callers + j))}
			results[j], err = db.AssertionKeys().CurrentKeys(e.ctx, fresh, every, settled)
			return err
		})
		var got []time.Duration
		for _, key := range results[0] {
			got = append(got, key.Created.Sub(e.now))
		}
		e.equal(round.want, got)
		for _, keys := range results {
			if diff := cmp.Diff(results[0], keys); diff != "" {
				t.Fatalf("after %s hosts disagree: %s", round.after, diff)
			}
		}
		e.counts(db, len(round.want), "SELECT COUNT(*) FROM vestibule_assertion_keys")
	}
}

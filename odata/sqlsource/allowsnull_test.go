package sqlsource_test

import (
	"fmt"
	"testing"
)

// TestColumnsThatAllowNullLater holds that no page leaves out rows where a column that allowed no null when the model was
// made has null, in either direction: a place is sought by what the model says of nulls.
func TestColumnsThatAllowNullLater(t *testing.T) {
	t.Parallel()
	db := database(t, "postgres", `CREATE DOMAIN given AS bigint NOT NULL;
CREATE TABLE "it's ""a""" (id bigint PRIMARY KEY, n bigint NOT NULL, m given);
INSERT INTO "it's ""a""" SELECT i, i % 5, i FROM generate_series(1, 20) i`)
	cfg := thingsOnly()
	cfg.Discover = []string{`it's "a"`}
	s := open(t, db, cfg)
	set := s.Model().Sets[0].Name
	walk := func(order string) (all string) {
		for range 2 {
			all = ""
			for skip := 0; skip < 20; skip += 2 {
				all += s.get(fmt.Sprintf("%s?$orderby=%s&$select=id&$top=2&$skip=%d", set, order, skip))
			}
		}
		return all
	}
	for _, column := range []string{"n", "m"} {
		for _, order := range []string{column, column + " desc"} {
			want := s.get(set + "?$select=id&$orderby=" + order)
			if got := walk(order); got != want {
				t.Errorf("%s: got %s, want %s", order, got, want)
			}
		}
	}
	alter(t, db, `ALTER TABLE "it's ""a""" ALTER n DROP NOT NULL`)
	alter(t, db, `ALTER DOMAIN given DROP NOT NULL`)
	alter(t, db, `UPDATE "it's ""a""" SET n = NULL, m = NULL WHERE id % 2 = 0`)
	for _, column := range []string{"n", "m"} {
		for _, order := range []string{column, column + " desc"} {
			want := s.get(set + "?$select=id&$orderby=" + order)
			if got := walk(order); got != want {
				t.Errorf("%s, with nulls: got %s, want %s", order, got, want)
			}
		}
	}
}

package odatatest_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// partsAlphabet has what wildcards, quotes and letters of other lengths or cases could be mistaken for.
var partsAlphabet = []string{
	"abc", "ABC", "aBc", "oak", "Oak", "100%", "_", "%", `\`, `\\`, "'", `"`, "*", "-", " ", "ß", "ä", "Ä", "a\u0308", "Σ", "σ", "ς", "ΟΔΟΣ", "İ", "I", "ı", "i",
	"𝄞", "𝔘𝔘𝔘", "日本語", "ǅ", "K", "k", "ſ", "s", "\u0301\u0301\u0301", "ﬁ", "123", "1", "(", ")", "NEAR", "AND", "^", "{", "}", ":", "$1", "?",
}

func partsText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(partsAlphabet[r.IntN(len(partsAlphabet))])
	}
	return b.String()
}

// partsIndexes makes PostgreSQL's indexes of parts of texts, with settings that make it use them on a small table.
func partsIndexes(db *sqlx.DB, dialect string) {
	if dialect == "postgres" {
		db.MustExec(`CREATE EXTENSION pg_trgm;
			CREATE INDEX ON parts USING gin (a gin_trgm_ops);
			CREATE INDEX ON parts USING gist (b COLLATE "C" gist_trgm_ops);
			CREATE INDEX ON parts (a varchar_pattern_ops);
			CREATE INDEX ON parts (b COLLATE "C");
			DO $do$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || $set$ SET enable_seqscan = off$set$;
				EXECUTE 'ALTER DATABASE ' || current_database() || $set$ SET jit = off$set$; END $do$`)
	}
}

// TestFourEnginesFindParts holds that indexes of parts of texts leave no row out and add none: random texts and constants,
// with wildcards, quotes, letters of several cases and lengths, of any number of characters.
func TestFourEnginesFindParts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 0))
	table := odatatest.Table{Name: "parts", Key: []string{"id"}, Columns: []string{"id big!", "a str", "b str", "c str"}}
	for id := range 150 {
		row := []any{id + 1, partsText(r, 6), partsText(r, 4), partsText(r, 3)}
		for i := range row[1:] {
			if r.IntN(8) == 0 {
				row[i+1] = nil
			}
		}
		table.Rows = append(table.Rows, row)
	}
	all := preparedEngines(t, []odatatest.Table{table}, sqlsource.Config{
		Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Parts", Table: "parts", Search: []string{"a", "b"}}},
	}, partsIndexes)
	var tally tally
	for seed := range uint64(200) {
		compare(t, all, seed, partsTarget(rand.New(rand.NewPCG(seed, 1)), table.Rows), &tally)
	}
	if tally.refused > tally.asked/10 {
		t.Errorf("%d of %d requests are no requests at all", tally.refused, tally.asked)
	}
}

// partsTarget is a request for the rows with a part that some row has, or none.
func partsTarget(r *rand.Rand, rows [][]any) string {
	quoted := func() string {
		s := partsText(r, 2)
		if text, ok := rows[r.IntN(len(rows))][1+r.IntN(2)].(string); ok && r.IntN(4) > 0 {
			runes := []rune(text)
			from := r.IntN(len(runes) + 1)
			s = string(runes[from : from+r.IntN(len(runes)-from+1)])
		}
		return "'" + url.PathEscape(strings.ReplaceAll(s, "'", "''")) + "'"
	}
	condition := func() string {
		column := []string{"a", "b", "c", "tolower(a)", "tolower(b)", "a", "b"}[r.IntN(7)]
		call := []string{"contains", "startswith", "endswith"}[r.IntN(3)] + "(" + column + "," + quoted() + ")"
		return []string{"", "", "not "}[r.IntN(3)] + call
	}
	switch r.IntN(6) {
	case 0:
		return "Parts/$count?$filter=" + condition()
	case 1:
		return "Parts?$select=id&$count=true&$filter=" + condition() + " or " + condition()
	case 2:
		return "Parts?$select=id&$orderby=c desc&$filter=" + condition() + " and " + condition()
	case 3:
		word := []string{"abc", "OAK", "100", "ΟΔΟΣ", "οδος", "日本語", "σας", "İI", "near", "ab", "äÄ"}[r.IntN(11)]
		return fmt.Sprintf("Parts?$select=id&$search=%s", url.PathEscape(word))
	case 4:
		pattern := []string{"^abc", "abc$", "oak+", "(oak)+[%25]?", "abc|oak", "^(abc){1,2}", `\\%25`, "%28%3F%3Ai%29abc", "日本語.", "100\\%25"}[r.IntN(10)]
		return "Parts?$select=id&$filter=matchesPattern(a,'" + pattern + "')"
	}
	return "Parts?$filter=" + condition()
}

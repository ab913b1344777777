package odatatest

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// WriteTables are the data that the rules for writing begin with, in an order that foreign keys allow. Ada is the user 1, Bob
// the user 2.
func WriteTables() []Table {
	return []Table{
		{
			Name: "makers", Key: []string{"id"}, Unique: []string{"name"}, Defaults: map[string]string{"country": "DE"},
			Columns: []string{"id once!", "name str!", "country str!", "note str"},
			Rows:    [][]any{{1, "Acme", "DE", nil}, {2, "Bolt", "CH", "second"}, {3, "Free", "AT", nil}},
		},
		{
			Name: "badges", Key: []string{"code"}, Columns: []string{"code str!", "title str", "locked bool!", "owner big!"},
			Rows: [][]any{{"gold", "Gold", false, 1}, {"lead", "Lead", true, 1}, {"bob", "Bob's", false, 2}},
		},
		{
			Name: "teams", Key: []string{"id"}, Unique: []string{"name"}, Columns: []string{"id str!", "name str!", "city str"},
			Rows: [][]any{{"1", "Red", "Bern"}, {"2", "Blue", nil}, {"3", "Green", nil}},
		},
		{
			Name: "team_badges", Key: []string{"team_id", "badge"}, Foreign: []string{"team_id -> teams(id)", "badge -> badges(code)"},
			Defaults: map[string]string{"weight": "1"}, Columns: []string{"team_id str!", "badge str!", "weight big!", "remark str"},
			Rows: [][]any{{"1", "lead", 1, nil}, {"1", "bob", 1, nil}},
		},
		{Name: "team_rivals", Columns: []string{"team_id str!", "rival_id str!"}, Rows: [][]any{{"1", "2"}, {"1", "2"}}},
		{Name: "units", Key: []string{"code"}, Columns: []string{"code str!", "name str"}, Rows: [][]any{{"kg", "kilogram"}}},
		{
			Name: "parts", Key: []string{"code"}, Foreign: []string{"maker_id -> makers(id)", "unit -> units(code)"}, Defaults: map[string]string{"stock": "0"},
			Columns: []string{
				"code str!", "title str!", "price dec", "stock big!", "kind str", "maker_id big", "made date", "seen ts", "opens time", "ok bool", "weight dbl",
				"token uuid", "data bin", "status big", "home_street str", "home_city str", "owner big!", "changed ts", "remark str", "unit str",
			},
			Rows: [][]any{
				{"A", "Anvil", "10.5", 3, "tool", 1, "2024-02-29", "2024-02-29 23:59:59.5", "08:00:00", true, 1.5, "0a0b0c0d-0000-0000-0000-000000000001", []byte{0, 255}, 1, "Main St", "Bern", 1, nil, "r", "kg"},
				{"B", "Bellows", nil, 0, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 2, nil, nil, nil},
			},
		},
		{
			Name: "notes", Key: []string{"book", "page"}, Columns: []string{"book str!", "page big!", "text str", "open bool!", "version big!", "owner big!"},
			Rows: [][]any{{"x", 1, "one", true, 1, 1}, {"x", 2, "two", false, 7, 1}, {"y", 1, "bob's", true, 1, 2}},
		},
		{
			Name: "replies", Key: []string{"id"}, Columns: []string{"id once!", "book str", "page big", "text str!"},
			Rows: [][]any{{1, "x", 1, "reply"}},
		},
	}
}

// WriteMapping exposes WriteTables. Every option of a write block occurs in it.
func WriteMapping() sqlsource.Config {
	everything := func() *sqlsource.Write { return &sqlsource.Write{Create: true, Update: true, Delete: true} }
	parts := everything()
	parts.Filter, parts.Fixed = "owner eq @user_id", []string{"kind"}
	parts.Set, parts.Touch = map[string]string{"owner": "@user_id"}, map[string]string{"changed": "@now"}
	notes := everything()
	notes.Filter, notes.Version, notes.Set = "open", "version", map[string]string{"owner": "@user_id"}
	badges := everything()
	badges.Filter, badges.Set = "not locked", map[string]string{"owner": "@user_id"}
	part := sqlsource.EntitySet{
		Name: "Parts", Table: "parts", Type: "Part", Hide: []string{"owner"}, Write: parts,
		Properties: []sqlsource.Property{{Column: "status", Name: "Status", Type: "Status"}},
		Complexes:  []sqlsource.Complex{{Type: "Address", Name: "home", Prefix: "home_"}},
		Navigations: []sqlsource.Navigation{
			{Name: "maker", To: "Makers", On: map[string]string{"maker_id": "id"}},
			{Name: "unitOf", To: "Units", On: map[string]string{"unit": "code"}},
		},
	}
	return sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, Protected: protected,
		EntitySets: []sqlsource.EntitySet{
			{Name: "Makers", Table: "makers", Write: everything(), Navigations: []sqlsource.Navigation{
				{Name: "parts", To: "Parts", Many: true, On: map[string]string{"id": "maker_id"}},
			}},
			{Name: "Teams", Table: "teams", Write: everything(), Navigations: []sqlsource.Navigation{
				{Name: "badges", To: "Badges", Many: true, Via: "team_badges", FromKey: "team_id", ToKey: "badge"},
				{Name: "rivals", To: "Teams", Many: true, Via: "team_rivals", FromKey: "team_id", ToKey: "rival_id"},
				{Name: "rivalOf", To: "Teams", Many: true, Via: "team_rivals", FromKey: "rival_id", ToKey: "team_id"},
			}},
			{
				Name: "Badges", Table: "badges", Hide: []string{"owner"}, Guard: "session", Filter: "owner eq @user_id", Write: badges,
				Navigations: []sqlsource.Navigation{{Name: "teams", To: "Teams", Many: true, Via: "team_badges", FromKey: "badge", ToKey: "team_id"}},
			},
			part,
			{Name: "Units", Table: "units"},
			{Name: "Notes", Table: "notes", Hide: []string{"owner"}, Guard: "session", Filter: "owner eq @user_id", Write: notes},
			{Name: "Replies", Table: "replies", Write: &sqlsource.Write{Create: true}, Navigations: []sqlsource.Navigation{
				{Name: "note", To: "Notes", On: map[string]string{"book": "book", "page": "page"}},
			}},
		},
		Enums: []sqlsource.Enum{{Name: "Status", Flags: true, Members: map[string]int64{"None": 0, "New": 1, "Sale": 2}}},
	}
}

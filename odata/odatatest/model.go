package odatatest

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// Mapping exposes the data. Every option of a mapping occurs in it.
func Mapping() sqlsource.Config {
	hide := []string{"secret", "owner"}
	many := func(name, to string, on map[string]string) sqlsource.Navigation {
		return sqlsource.Navigation{Name: name, To: to, Many: true, On: on}
	}
	children := map[string]string{"id": "parent_id"}
	return sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, Protected: protected,
		Discover: []string{"thing_tags", "Odd Names", "users", "vestibule_*"},
		EntitySets: []sqlsource.EntitySet{
			{
				Name: "Things", Table: "things", Type: "Thing", Hide: hide, Search: []string{"name", "note"},
				Properties: []sqlsource.Property{{Column: "status", Name: "Status", Type: "Status"}},
				Complexes:  []sqlsource.Complex{{Type: "Address", Name: "home", Prefix: "home_"}},
				Navigations: []sqlsource.Navigation{
					{Name: "parent", To: "Things", On: map[string]string{"parent_id": "id"}},
					many("children", "Things", children),
					many("lines", "Lines", map[string]string{"id": "thing_id"}),
					many("mine", "Mine", children),
					{Name: "tags", To: "Tags", Many: true, Via: "thing_tags", FromKey: "thing_id", ToKey: "tag_code"},
				},
			},
			{Name: "Lines", Table: "lines", Navigations: []sqlsource.Navigation{
				{Name: "thing", To: "Things", On: map[string]string{"thing_id": "id"}},
				{Name: "cheap", To: "Cheap", On: map[string]string{"thing_id": "id"}},
				{Name: "old", To: "Old", On: map[string]string{"thing_id": "id"}},
			}},
			{Name: "Tags", Table: "tags"},
			{Name: "Devices", Table: "devices"},
			{Name: "Marks", Table: "marks"},
			{Name: "Cheap", Table: "cheap", Key: []string{"id"}},
			// Row policies: one over the caller, one over the data alone.
			{Name: "Mine", Table: "things", Hide: hide, Guard: "session", Filter: "owner eq @user_id", Navigations: []sqlsource.Navigation{
				{Name: "above", To: "Mine", On: map[string]string{"parent_id": "id"}},
				many("below", "Mine", children),
			}},
			{Name: "Old", Table: "things", Hide: hide, Filter: "born lt 2000-01-01", Navigations: []sqlsource.Navigation{
				many("children", "Old", children),
			}},
			{Name: "Settled", Table: "devices", Guard: "settled"},
		},
		Enums:      []sqlsource.Enum{{Name: "Status", Flags: true, Members: map[string]int64{"None": 0, "New": 1, "Sale": 2}}},
		Singletons: []sqlsource.EntitySet{{Name: "Company", Table: "company"}},
	}
}

// protected stands for the tables that a host never exposes.
func protected(table string) bool {
	return slices.ContainsFunc(secrets(), func(t Table) bool { return strings.EqualFold(t.Name, table) })
}

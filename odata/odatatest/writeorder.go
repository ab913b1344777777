package odatatest

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// OrderTables are the data of RunWriteOrder.
func OrderTables() []Table {
	return []Table{
		{Name: "groups_", Key: []string{"id"}, Columns: []string{"id big!", "open bool!"}, Rows: [][]any{{1, true}, {2, false}}},
		{Name: "units", Key: []string{"code"}, Columns: []string{"code str!"}, Rows: [][]any{{"kg"}}},
		{
			Name: "items", Key: []string{"id"}, Unique: []string{"code"}, Foreign: []string{"group_id -> groups_(id)", "unit -> units(code)", "peer -> items(id)"},
			Defaults: map[string]string{"state": "draft"}, Columns: []string{"id str!", "code str!", "group_id big", "unit str", "peer str", "state str!"},
			Rows: [][]any{{"1", "a", 1, "kg", nil, "open"}, {"2", "b", nil, nil, "1", "open"}},
		},
	}
}

// OrderMapping exposes OrderTables: what may be written depends on a related row, or on a value that the database gives.
func OrderMapping() sqlsource.Config {
	items := func(name, filter string) sqlsource.EntitySet {
		return sqlsource.EntitySet{
			Name: name, Table: "items", Write: &sqlsource.Write{Create: true, Update: true, Filter: filter},
			Navigations: []sqlsource.Navigation{
				{Name: "group", To: "Groups", On: map[string]string{"group_id": "id"}},
				{Name: "unitOf", To: "Units", On: map[string]string{"unit": "code"}},
				{Name: "peerOf", To: "Items", On: map[string]string{"peer": "id"}},
			},
		}
	}
	return sqlsource.Config{Namespace: "Test", Guard: edm.GuardNone, Protected: protected, EntitySets: []sqlsource.EntitySet{
		{Name: "Groups", Table: "groups_"}, {Name: "Units", Table: "units"}, items("Items", "group/open or group_id eq null"), items("Opened", "state eq 'open'"),
	}}
}

// RunWriteOrder checks which of several faults is answered: a row that may not be written comes before a value that is refused, and that
// before a duplicate and a dead link. fresh makes a subject of OrderTables and OrderMapping for each rule.
func RunWriteOrder(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	for _, r := range []rule{
		{"a filter over a related row", []step{
			{request: "POST Items", body: `{"id":"1","code":"x","group_id":2}`, status: 403, has: []string{`"code":"row_not_allowed"`}},
			{request: "POST Items", body: `{"id":"1","code":"x","group_id":1}`, status: 409, has: []string{`"code":"duplicate"`, `"target":"id"`}},
			{request: "POST Items", body: `{"id":"9","code":"x","group_id":2,"unit":"nope"}`, status: 403},
			{request: "POST Items", body: `{"id":"9","code":"x","group_id":7}`, status: 403},
			{request: "POST Items", body: `{"id":"9","code":null,"group_id":2}`, status: 403},
			{request: "POST Opened", body: `{"id":"9","state":"open"}`, status: 422, has: []string{`"target":"code"`}},
			{request: "POST Items", body: `{"id":"9","code":null,"group_id":1}`, status: 422, has: []string{`"target":"code"`}},
			{request: "PATCH Items('1')", body: `{"group_id":2,"code":"b"}`, header: anyTag(), status: 403},
			{request: "PATCH Items('1')", body: `{"group_id":null,"code":"b"}`, header: anyTag(), status: 409, has: []string{`"target":"code"`}},
			{request: "PATCH Items('1')", body: `{"group_id":2,"code":null}`, header: anyTag(), status: 403},
			{request: "PATCH Items('1')", body: `{"code":null}`, header: anyTag(), status: 422},
			{request: "GET Items/$count", want: "2"},
		}},
		{"a filter over a default", []step{
			{request: "POST Opened", body: `{"id":"1","code":"x"}`, status: 403},
			{request: "POST Opened", body: `{"id":"9","code":"a"}`, status: 403},
			{request: "POST Opened", body: `{"id":"9","code":"x"}`, status: 403},
			{request: "POST Opened", body: `{"id":"1","code":"x","state":"open"}`, status: 409},
			{request: "PATCH Opened('1')", body: `{"state":"x","code":"b"}`, header: anyTag(), status: 403},
			{request: "POST Opened", body: `{"id":"9","code":"x","state":"open"}`, status: 201},
		}},
		{"each dead link and no other", []step{
			{request: "PATCH Items('1')", body: `{"unit":"nope","peer":"77"}`, header: anyTag(), status: 409, has: []string{`"target":"unit"`, `"target":"peer"`}},
			{request: "PATCH Items('1')", body: `{"unit":"kg","peer":"77","group_id":1}`, header: anyTag(), status: 409, has: []string{`"details":[{"code":"dead_link","message":"peer names`, `"target":"peer","@Common.numericSeverity":4}]`}},
			{request: "POST Items", body: `{"id":"9","code":"x","unit":"nope","peer":"1","group_id":null}`, status: 409, has: []string{`"details":[{"code":"dead_link","message":"unit names`, `"target":"unit","@Common.numericSeverity":4}]`}},
			{request: "POST $batch", body: `{"requests":[{"id":"1","atomicityGroup":"g","method":"POST","url":"Items","headers":{"content-type":"application/json"},"body":{"id":"20","code":"n"}},{"id":"2","atomicityGroup":"g","method":"POST","url":"Items","headers":{"content-type":"application/json"},"body":{"id":"21","code":"m","peer":"20","unit":"nope"}}]}`, has: []string{`"details":[{"code":"dead_link","message":"unit names`, `"target":"unit","@Common.numericSeverity":4`}},
			{request: "GET Items/$count", want: "2"},
		}},
	} {
		t.Run(r.name, func(t *testing.T) { r.run(t, fresh(t)) })
	}
}

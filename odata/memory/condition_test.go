package memory_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// A condition is true, and neither false nor null, of a row, and knows the moment.
func TestCondition(t *testing.T) {
	t.Parallel()
	properties := []*edm.Property{
		{Name: "active", Type: edm.Of(edm.Boolean), Nullable: true},
		{Name: "level", Type: edm.Of(edm.Int64), Nullable: true},
		{Name: "until", Type: edm.Type{Kind: edm.DateTimeOffset, Precision: 6}, Nullable: true},
	}
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	null, yes, no := plan.Value{Null: true}, plan.Value{Int: 1}, plan.Value{}
	later := plan.Value{Bytes: []byte("2026-05-04T12:00:01Z")}
	for filter, rows := range map[string]map[bool][][]plan.Value{
		"active":                          {true: {{yes, null, null}}, false: {{no, null, null}, {null, null, null}}},
		"not active":                      {true: {{no, null, null}}, false: {{yes, null, null}, {null, null, null}}},
		"level div 2 gt 1 or active":      {true: {{yes, null, null}, {no, plan.Value{Int: 4}, null}}, false: {{no, plan.Value{Int: 2}, null}}},
		"until gt now() or until eq null": {true: {{null, null, later}, {null, null, null}}, false: {{null, null, plan.Value{Bytes: []byte("2026-05-04T12:00:00Z")}}}},
		"true":                            {true: {{null, null, null}}},
		"null":                            {false: {{null, null, null}}},
	} {
		c, err := memory.NewCondition(properties, filter)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		for want, list := range rows {
			for _, row := range list {
				if got := c.Holds(row, noon); got != want {
					t.Errorf("%s of %v: %v", filter, row, got)
				}
			}
		}
	}
	if c, err := memory.NewCondition(properties, "until lt now()"); err != nil || c.Holds([]plan.Value{null, null, later}, noon) || !c.Holds([]plan.Value{null, null, later}, noon.Add(time.Minute)) {
		t.Errorf("the moment stands still, %v", err)
	}
	var malformed *syntax.Error
	if _, err := memory.NewCondition(properties, "level gt"); !errors.As(err, &malformed) {
		t.Errorf("malformed: %v", err)
	}
	var misfit *plan.Error
	for _, filter := range []string{"level", "nothing eq 1", "level eq 'a'"} {
		if _, err := memory.NewCondition(properties, filter); !errors.As(err, &misfit) {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

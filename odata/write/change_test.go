package write_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// changeOf is an update of a set with the columns id, name and the filter of the write block.
func changeOf(m *write.Match) *write.Change {
	id, name := &edm.Property{Name: "id", Type: edm.Of(edm.Int64)}, &edm.Property{Name: "name", Type: edm.Of(edm.String), Nullable: true}
	set := &edm.EntitySet{Name: "S", Type: &edm.EntityType{Name: "T", Key: []*edm.Property{id}, Properties: []*edm.Property{id, name}}}
	r := &plan.Range{Set: set}
	ref := func(p *edm.Property) plan.Column {
		return plan.Column{Expr: r.Leaf([]*edm.Property{p}), T: p.Type}
	}
	n := &plan.Node{
		Set: set, Query: &plan.Query{Range: r}, Key: []int{0}, Tag: []int{0, 1},
		Columns: []plan.Column{ref(id), ref(name), {Expr: plan.Bool(true), T: edm.Of(edm.Boolean)}, {Expr: plan.Bool(true), T: edm.Of(edm.Boolean)}},
	}
	p := &plan.Plan{Kind: plan.Entity, Top: n}
	nav := &edm.Navigation{Name: "owner", Target: set}
	return &write.Change{
		Kind: write.Update, Set: set, Match: m, Links: []*edm.Navigation{nav},
		Before: &write.Check{Plan: p, Filter: 2}, After: &write.Check{Plan: p, Filter: 2, Links: []int{3}},
	}
}

// rowOf is a row of changeOf.
func rowOf(name string, filter, link plan.Value) []plan.Value {
	return []plan.Value{{Int: 5}, {Bytes: []byte(name)}, filter, link}
}

var yes, no, null = plan.Value{Int: 1}, plan.Value{}, plan.Value{Null: true}

func kindOf(r *write.Refusal) any {
	if r == nil {
		return nil
	}
	return r.Kind
}

func TestJudge(t *testing.T) {
	known := string(changeOf(nil).Before.Plan.Top.AppendTag(nil, rowOf("a", yes, yes)))
	moved := string(changeOf(nil).Before.Plan.Top.AppendTag(nil, rowOf("b", yes, yes)))
	if known == moved {
		t.Fatal("two states of a row have one tag")
	}
	held := func(c *write.Change) *write.Change {
		c.Before = &write.Check{Plan: c.Before.Plan, Filter: 2, Held: []int{3}}
		return c
	}
	invalid := func(c *write.Change) *write.Change { c.Invalid = true; return c }
	refused := func(c *write.Change) *write.Change { c.Refused, c.Invalid = true, true; return c }
	for name, c := range map[string]struct {
		change *write.Change
		row    []plan.Value
		want   any
	}{
		"no row":                     {changeOf(&write.Match{Any: true}), nil, write.RowNotFound},
		"no row, no precondition":    {changeOf(nil), nil, write.RowNotFound},
		"no precondition":            {changeOf(nil), rowOf("a", yes, yes), write.PreconditionRequired},
		"the link is there":          {held(changeOf(&write.Match{Any: true})), rowOf("a", yes, yes), nil},
		"the link is gone":           {held(changeOf(nil)), rowOf("a", no, no), write.RowNotFound},
		"the link is null":           {held(changeOf(&write.Match{Any: true})), rowOf("a", yes, null), write.RowNotFound},
		"any state":                  {changeOf(&write.Match{Any: true}), rowOf("b", yes, yes), nil},
		"the state that is known":    {changeOf(&write.Match{Tags: []string{moved, known}}), rowOf("a", yes, yes), nil},
		"another state":              {changeOf(&write.Match{Tags: []string{moved}}), rowOf("a", yes, yes), write.PreconditionFailed},
		"no state":                   {changeOf(&write.Match{}), rowOf("a", yes, yes), write.PreconditionFailed},
		"another state, not allowed": {changeOf(&write.Match{Tags: []string{moved}}), rowOf("a", no, yes), write.PreconditionFailed},
		"not allowed":                {changeOf(&write.Match{Any: true}), rowOf("a", no, yes), write.RowNotAllowed},
		"not allowed by null":        {changeOf(&write.Match{Any: true}), rowOf("a", null, yes), write.RowNotAllowed},
		"values not allowed":         {refused(changeOf(&write.Match{Any: true})), rowOf("a", yes, yes), write.RowNotAllowed},
		"invalid, not allowed":       {invalid(changeOf(&write.Match{Any: true})), rowOf("a", no, yes), write.RowNotAllowed},
		"invalid":                    {invalid(changeOf(&write.Match{Any: true})), rowOf("a", yes, yes), write.InvalidValue},
		"create":                     {&write.Change{Kind: write.Create}, nil, nil},
		"create refused":             {refused(&write.Change{Kind: write.Create}), nil, write.RowNotAllowed},
		"create invalid":             {invalid(&write.Change{Kind: write.Create}), nil, write.InvalidValue},
	} {
		if got := kindOf(c.change.Judge(c.row)); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestJudgeLink(t *testing.T) {
	here, locked := rowOf("a", yes, yes), rowOf("a", no, yes)
	for name, c := range map[string]struct {
		kind       write.ChangeKind
		own, other []plan.Value
		linked     bool
		want       any
	}{
		"add":                               {write.Link, here, here, false, nil},
		"add what is there":                 {write.Link, here, here, true, nil},
		"add to no row":                     {write.Link, nil, nil, false, write.RowNotFound},
		"add what is no row":                {write.Link, here, nil, false, write.DeadLink},
		"add to a row that may not change":  {write.Link, locked, nil, false, write.RowNotAllowed},
		"add a row that may not change":     {write.Link, here, locked, true, write.RowNotAllowed},
		"remove":                            {write.Unlink, here, here, true, nil},
		"remove what is not there":          {write.Unlink, locked, locked, false, write.RowNotFound},
		"remove from no row":                {write.Unlink, nil, here, false, write.RowNotFound},
		"remove what is no row":             {write.Unlink, locked, nil, false, write.RowNotFound},
		"remove of a row that may not":      {write.Unlink, locked, here, true, write.RowNotAllowed},
		"remove of another that may not":    {write.Unlink, here, locked, true, write.RowNotAllowed},
		"remove of one where null says not": {write.Unlink, rowOf("a", null, yes), here, true, write.RowNotAllowed},
	} {
		change := changeOf(nil)
		change.Kind, change.Nav = c.kind, change.Links[0]
		r := change.JudgeLink(c.own, c.other, c.linked)
		if got := kindOf(r); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if named := r != nil && r.Links != nil; named != (r != nil && c.own != nil && r.Kind != write.RowNotAllowed) {
			t.Errorf("%s: the refusal names %v", name, r)
		}
	}
}

func TestRefusalOfKey(t *testing.T) {
	a, b, c := &edm.Property{Name: "a"}, &edm.Property{Name: "b"}, &edm.Property{Name: "c"}
	of := &edm.EntityType{Key: []*edm.Property{a, b}}
	for name, tt := range map[string]struct {
		paths [][]*edm.Property
		want  bool
	}{
		"the key":         {[][]*edm.Property{{b}, {a}}, true},
		"a part of it":    {[][]*edm.Property{{a}}, false},
		"another":         {[][]*edm.Property{{c}}, false},
		"with another":    {[][]*edm.Property{{a}, {c}}, false},
		"inside of one":   {[][]*edm.Property{{a}, {b, c}}, false},
		"nobody knows":    {nil, false},
		"more than a key": {[][]*edm.Property{{a}, {b}, {c}}, false},
	} {
		if got := (&write.Refusal{Kind: write.Duplicate, Properties: tt.paths}).OfKey(of); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestVerify(t *testing.T) {
	c := changeOf(nil)
	for name, v := range map[string]struct {
		row  []plan.Value
		want any
	}{
		"as it may be":       {rowOf("a", yes, yes), nil},
		"left the policy":    {nil, write.RowNotAllowed},
		"left the filter":    {rowOf("a", no, no), write.RowNotAllowed},
		"dead link":          {rowOf("a", yes, no), write.DeadLink},
		"dead link, by null": {rowOf("a", yes, null), write.DeadLink},
	} {
		r := c.Verify(v.row)
		if got := kindOf(r); got != v.want {
			t.Errorf("%s: got %v, want %v", name, got, v.want)
		}
		if r != nil && r.Kind == write.DeadLink && (len(r.Links) != 1 || r.Links[0] != c.Links[0]) {
			t.Errorf("%s: the dead links are %v", name, r.Links)
		}
	}
}

// A tag tells apart all that a row can hold: null, the empty text and zero, and where one text ends.
func TestTagsDiffer(t *testing.T) {
	texts := []*edm.Property{{Name: "a", Type: edm.Of(edm.String)}, {Name: "b", Type: edm.Of(edm.String)}, {Name: "c", Type: edm.Of(edm.Int64)}}
	n := &plan.Node{Tag: []int{0, 1, 2}}
	for _, p := range texts {
		n.Columns = append(n.Columns, plan.Column{T: p.Type})
	}
	text := func(s string) plan.Value { return plan.Value{Bytes: []byte(s)} }
	seen := map[string]int{}
	for i, row := range [][]plan.Value{
		{text("ab"), text("c"), {Int: 0}},
		{text("a"), text("bc"), {Int: 0}},
		{text(""), text("abc"), {Int: 0}},
		{null, text("abc"), {Int: 0}},
		{text("null"), text("abc"), {Int: 0}},
		{text("a"), text("bc"), null},
		{text("a,1:b"), text("c"), {Int: 0}},
		{text("a"), text("b"), {Int: 10}},
		{text("a"), text("b"), {Int: 1}},
	} {
		tag := string(n.AppendTag(nil, row))
		if before, taken := seen[tag]; taken {
			t.Errorf("rows %d and %d have the tag %s", before, i, tag)
		}
		seen[tag] = i
	}
	if nothing, empty := n.AppendTag(nil, []plan.Value{{}, {}, {}}), n.AppendTag(nil, []plan.Value{text(""), text(""), {}}); string(nothing) != string(empty) {
		t.Error("the empty text has two tags")
	}
	n.Tag, n.Versioned = []int{2}, true
	if got := string(n.AppendTag(nil, []plan.Value{{}, {}, {Int: 41}})); got != "41" {
		t.Errorf("the tag of version 41 is %q", got)
	}
}

func TestPlanAtKey(t *testing.T) {
	c := changeOf(nil)
	p := c.Before.Plan.At([]plan.Value{{Int: 7}})
	want := plan.Equal(c.Before.Range().KeyRef(0), &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: 7}})
	if !plan.Same(p.Top.Query.Key, want) {
		t.Errorf("the key is %v", p.Top.Query.Key)
	}
	if c.Before.Plan.Top.Query.Key != nil {
		t.Error("the plan without a key has one now")
	}
	row := rowOf("a", yes, yes)
	if diff := cmp.Diff([]plan.Value{{Int: 5}}, p.Top.KeyOf(row)); diff != "" {
		t.Error(diff)
	}
}

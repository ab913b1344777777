package bind_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func TestKinds(t *testing.T) {
	cases := map[string]struct {
		kind     plan.Kind
		optional bool
	}{
		"":                           {plan.ServiceDocument, false},
		"$metadata":                  {plan.Metadata, false},
		"Books":                      {plan.Collection, false},
		"Books/$ref":                 {plan.Collection, false},
		"Books(1)":                   {plan.Entity, false},
		"Books/1":                    {plan.Entity, false},
		"Books(Isbn='1')":            {plan.Entity, false},
		"Authors(Country='ch',No=1)": {plan.Entity, false},
		"Books(1)/Author":            {plan.Entity, true},
		"Books(1)/Author/Name":       {plan.Property, true},
		"Books(1)/Sequels(2)":        {plan.Entity, false},
		"Books(1)/Title":             {plan.Property, false},
		"Books(1)/Size/Width":        {plan.Property, false},
		"Books(1)/Title/$value":      {plan.RawValue, false},
		"Books(1)/Genre/$value":      {plan.RawValue, false},
		"Books/$count":               {plan.RawCount, false},
		"Books(1)/Loans/$count":      {plan.RawCount, false},
		"Site":                       {plan.Entity, false},
		"Site/Name":                  {plan.Property, false},
		"Loans(0a0b0c0d-0000-0000-0000-0000000000ff)/Book": {plan.Entity, true},
	}
	for target, want := range cases {
		t.Run(target, func(t *testing.T) {
			p := mustBuild(t, target)
			if p.Kind != want.kind || p.Optional != want.optional {
				t.Errorf("got kind %d, optional %v, want %+v", p.Kind, p.Optional, want)
			}
		})
	}
}

func TestOrderEndsWithTheKey(t *testing.T) {
	cases := map[string]string{
		"Books":                                 "Id",
		"Books?$orderby=Title%20desc":           "Title desc,Id",
		"Books?$orderby=Id%20desc,Title":        "Id desc,Title",
		"Books?$orderby=Title,Title%20desc":     "Title,Id",
		"Books?$orderby='x',Title":              "Title,Id",
		"Books?$orderby=Prequel/Id":             "Id,Id",
		"Authors?$orderby=No":                   "No,Country",
		"Books(1)/Sequels?$orderby=Size/Height": "Height,Id",
		"Books/$count?$orderby=Title":           "",
		"Books(1)":                              "",
	}
	for target, want := range cases {
		t.Run(target, func(t *testing.T) {
			var got []string
			for _, o := range mustBuild(t, target).Top.Query.Order {
				path := o.Expr.(*plan.Ref).Path
				name := path[len(path)-1].Name
				if o.Desc {
					name += " desc"
				}
				got = append(got, name)
			}
			if s := strings.Join(got, ","); s != want {
				t.Errorf("got %q, want %q", s, want)
			}
		})
	}
}

func TestFieldsAndColumns(t *testing.T) {
	cases := map[string]string{
		"Books?$select=Title":                                "Title",
		"Books?$select=*":                                    "Id,Isbn,Title,Price,Printed,Genre,Size(Width,Height)",
		"Books":                                              "Id,Isbn,Title,Price,Printed,Genre,Size(Width,Height)",
		"Books?$select=Size/Width,Id":                        "Id,Size(Width)",
		"Books?$select=Size/Width,Size":                      "Size(Width,Height)",
		"Books?$select=Size,Size/Width":                      "Size(Width,Height)",
		"Books?$select=Size($select=Height)":                 "Size(Height)",
		"Books?$select=Lib.Book/Title,Lib.*":                 "Title",
		"Books?$select=Author":                               "",
		"Books?$select=Author,Title":                         "Title",
		"Books?$compute=Price%20mul%202%20as%20P&$select=P":  "P",
		"Books?$compute=Price%20mul%202%20as%20P":            "Id,Isbn,Title,Price,Printed,Genre,Size(Width,Height),P",
		"Books?$compute=Price%20mul%202%20as%20P&$select=Id": "Id",
		"Books(1)/Size":                                      "Size(Width,Height)",
		"Books(1)/Size?$select=Width":                        "Size(Width)",
		"Books/$ref":                                         "",
	}
	for target, want := range cases {
		t.Run(target, func(t *testing.T) {
			n := mustBuild(t, target).Top
			if got := names(n.Fields); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if wants := strings.Contains(target, "Author"); wants != (len(n.Links) == 1) {
				t.Errorf("links: %v", n.Links)
			}
			for _, k := range n.Key {
				if ref := n.Columns[k].Expr.(*plan.Ref); ref.Path[0].Name != "Id" {
					t.Errorf("the key's column is %s", ref.Path[0].Name)
				}
			}
		})
	}
}

func names(fields []plan.Field) string {
	var out []string
	for _, f := range fields {
		name := f.Name
		if f.Column < 0 {
			name += "(" + names(f.Fields) + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ",")
}

func TestWhoMayReachWhat(t *testing.T) {
	nobody := plan.Caller{}
	busy := plan.Caller{SignedIn: true}
	cases := []struct {
		target string
		caller plan.Caller
		want   plan.ErrorKind
		ok     bool
	}{
		{target: "Books", caller: nobody, ok: true},
		{target: "Loans", caller: nobody, want: plan.Unauthenticated},
		{target: "Loans", caller: busy, ok: true},
		{target: "Authors", caller: nobody, want: plan.Unauthenticated},
		{target: "Authors", caller: busy, want: plan.Forbidden},
		{target: "Authors", caller: reader(), ok: true},
		{target: "Books(1)/Author", caller: busy, want: plan.Forbidden},
		{target: "Books(1)/Loans/$count", caller: nobody, want: plan.Unauthenticated},
		{target: "Books?$expand=Author", caller: busy, want: plan.Forbidden},
		{target: "Books?$expand=Sequels($expand=Author)", caller: busy, want: plan.Forbidden},
		{target: "Books?$expand=*", caller: busy, want: plan.Forbidden},
		{target: "Books?$filter=Author/Name%20eq%20'x'", caller: busy, want: plan.Forbidden},
		{target: "Books?$filter=Author%20eq%20null", caller: busy, want: plan.Forbidden},
		{target: "Books?$filter=Loans/any()", caller: nobody, want: plan.Unauthenticated},
		{target: "Books?$filter=Loans/$count%20gt%201", caller: nobody, want: plan.Unauthenticated},
		{target: "Books?$filter=$root/Loans/any()", caller: nobody, want: plan.Unauthenticated},
		{target: "Books?$filter=Sequels/any(s:s/Author/Name%20eq%20'x')", caller: busy, want: plan.Forbidden},
		{target: "Books?$orderby=Author/Name", caller: busy, want: plan.Forbidden},
		{target: "Books?$compute=Author/Name%20as%20A", caller: busy, want: plan.Forbidden},
		{target: "$metadata", caller: nobody, want: plan.Unauthenticated},
		{target: "", caller: nobody, want: plan.Unauthenticated},
		{target: "", caller: busy, want: plan.Forbidden},
		{target: "", caller: reader(), ok: true},
	}
	for _, c := range cases {
		t.Run(c.target, func(t *testing.T) {
			_, err := build(t, c.target, bind.Options{Caller: c.caller})
			var fault *plan.Error
			if c.ok && err != nil || !c.ok && (!errors.As(err, &fault) || fault.Kind != c.want) {
				t.Errorf("got %v, want kind %d, ok %v", err, c.want, c.ok)
			}
		})
	}
}

func TestPrivateAndVolatile(t *testing.T) {
	cases := map[string][2]bool{
		"Books":                                 {false, false},
		"Books?$filter=Printed%20lt%20now()":    {false, true},
		"Loans":                                 {true, false},
		"Books?$expand=Loans":                   {true, false},
		"Books?$filter=Author/Name%20eq%20null": {true, false},
		"Site":                                  {false, false},
		"$metadata":                             {true, false},
	}
	for target, want := range cases {
		p := mustBuild(t, target)
		if loans := strings.Contains(target, "Loans"); p.PerCaller != loans {
			t.Errorf("%s: per caller %v, want %v", target, p.PerCaller, loans)
		}
		if p.Private != want[0] || p.Volatile != want[1] {
			t.Errorf("%s: private %v, volatile %v, want %v", target, p.Private, p.Volatile, want)
		}
	}
}

// A value of the user that the policy cannot compare matches no row, rather than all.
func TestPolicyWithoutAValueMatchesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		id   any
		none bool
	}{
		"a number": {int64(7), false}, "a number as text": {"7", false}, "text": {"x", true}, "null": {nil, true}, "a type of no column": {[]int{7}, true},
	} {
		t.Run(name, func(t *testing.T) {
			who := reader()
			who.User = map[string]any{"id": c.id}
			p, err := build(t, "Loans", bind.Options{Caller: who})
			if err != nil {
				t.Fatal(err)
			}
			none := &plan.Literal{T: edm.Of(edm.Boolean), Value: plan.Value{}}
			if got := cmp.Equal(p.Top.Query.Range.Policy, plan.Expr(none)); got != c.none {
				t.Errorf("the policy is %#v", p.Top.Query.Range.Policy)
			}
		})
	}
}

func TestLinksOfExpandedCollections(t *testing.T) {
	cases := map[string]string{
		"Books?$expand=Sequels":                                                       "",
		"Books?$expand=Sequels($skip=3;$orderby=Title%20desc)":                        "$orderby=Title%20desc",
		"Books?$expand=Sequels($filter=Id%20gt%20@a;$select=Id)&@a=1":                 "$filter=Id%20gt%20@a&$select=Id&@a=1",
		"Books?$expand=Sequels($levels=2)":                                            "$expand=Sequels($levels=1)",
		"Books?$expand=Sequels($levels=3;$select=Id)":                                 "$select=Id&$expand=Sequels($levels=2;$select=Id)",
		"Books?$expand=Sequels($levels=2;$expand=Prequel)":                            "$expand=Prequel,Sequels($levels=1;$expand=Prequel)",
		"Books?$expand=Sequels($filter=Id%20in%20@a)&@a=[1,2]":                        "$filter=Id%20in%20@a&@a=[1,2]",
		"Books?$expand=Sequels($count=true;$search=x;$compute=Id%20as%20J)":           "$count=true&$search=x&$compute=Id%20as%20J",
		"Books?$filter=Id%20eq%201&$expand=Sequels($expand=Sequels($top=2);$top=100)": "$expand=Sequels($top=2)&$top=100",
	}
	for target, want := range cases {
		t.Run(target, func(t *testing.T) {
			n := mustBuild(t, target).Top.Expand[0]
			if n.Options != want {
				t.Errorf("got %q, want %q", n.Options, want)
			}
			if _, err := build(t, "Books(1)/Sequels?"+n.Options, bind.Options{Caller: reader()}); n.Options != "" && err != nil {
				t.Errorf("the link does not work: %v", err)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	cases := map[string]struct {
		policy string
		guard  edm.Guard
		want   string
	}{
		"sound":                 {"Shelf eq 1", edm.GuardNone, ""},
		"through navigation":    {"Prequel/Shelf eq 1 and Sequels/any(s:s/Shelf eq @user_id)", edm.GuardSession, ""},
		"unknown property":      {"Self eq 1", edm.GuardNone, `there is no property "Self"`},
		"no condition":          {"Shelf", edm.GuardNone, "not a condition"},
		"does not parse":        {"Shelf eq", edm.GuardNone, "position"},
		"unknown alias":         {"Shelf eq @you", edm.GuardSession, "@you is unknown"},
		"user without a caller": {"Shelf eq @user_id", edm.GuardNone, "nobody"},
		"user inside a lambda":  {"Sequels/any(s:s/Id eq @user_id)", edm.GuardNone, "nobody"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := library()
			m.Sets[0].Policy, m.Sets[0].Guard = c.policy, c.guard
			_, err := bind.New(m)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var fault *bind.PolicyError
			if err != nil && (!errors.As(err, &fault) || fault.Set != m.Sets[0]) {
				t.Errorf("the fault is not that of a policy: %v", err)
			}
		})
	}
}

func TestUserColumns(t *testing.T) {
	m := library()
	m.Sets[0].Policy, m.Sets[0].Guard = "Shelf eq @user_b or Sequels/any(s:s/Id in [@user_a,@user_b])", edm.GuardSession
	p, err := bind.New(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.UserColumns(m.Sets[0]), " "); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := p.UserColumns(m.Sets[1]); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestFaultsNameThePlace(t *testing.T) {
	cases := map[string]string{
		"Bocks":                                         `there is no resource "Bocks"; did you mean "Books"? (at position 0)`,
		"Books(1)/Titel":                                `there is no property "Titel"; did you mean "Title"? (at position 9)`,
		"Books?$filter=Titel%20eq%20'x'":                `there is no property "Titel"; did you mean "Title"? (at position 14)`,
		"Books?$filter=Title%20eq%201":                  `eq does not work on Edm.String and Edm.Int64; put the text in single quotes: '1' (at position 22)`,
		"Books?$orderby=Id,Shelf":                       `there is no property "Shelf" (at position 18)`,
		"Books?$select=Id,Shelf":                        `there is no property "Shelf" (at position 17)`,
		"Books?$expand=Sequels($filter=Shelf%20eq%201)": `there is no property "Shelf" (at position 30)`,
		"Books?$expand=Shelf":                           `there is no navigation property "Shelf" (at position 14)`,
		"Books('1')":                                    `the key "Id" is Edm.Int64, not Edm.String (at position 6)`,
		"Books(1)?$top=1":                               `$top does not apply to this resource (at position 9)`,
	}
	for target, want := range cases {
		_, err := build(t, target, bind.Options{Caller: reader()})
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", target, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := "Books?$expand=Sequels($expand=Sequels($expand=Sequels($expand=Sequels($expand=Sequels))))"
	cases := []struct {
		name, target string
		limits       plan.Limits
		ok           bool
	}{
		{"expand depth", deep, plan.Limits{}, false},
		{"expand depth allowed", deep, plan.Limits{ExpandDepth: 5}, true},
		{"levels", "Books?$expand=Sequels($levels=5)", plan.Limits{}, false},
		{"levels allowed", "Books?$expand=Sequels($levels=4)", plan.Limits{}, true},
		{"levels max", "Books?$expand=Sequels($levels=max)", plan.Limits{}, true},
		{"width", "Books?$expand=Sequels($expand=*),Prequel($expand=*),Author($expand=*),Loans($expand=*)", plan.Limits{}, true},
		{"too wide", "Books?$expand=*($levels=4)", plan.Limits{ExpandDepth: 4}, false},
		{"top", "Books?$top=11", plan.Limits{MaxTop: 10}, false},
		{"top allowed", "Books?$top=10", plan.Limits{MaxTop: 10}, true},
		{"nested top", "Books?$expand=Sequels($top=11)", plan.Limits{MaxTop: 10}, false},
		{"nodes", "Books?$filter=Id%20eq%201%20or%20Id%20eq%202", plan.Limits{FilterNodes: 6}, false},
		{"nodes allowed", "Books?$filter=Id%20eq%201%20or%20Id%20eq%202", plan.Limits{FilterNodes: 7}, true},
		{"nodes by aliases", "Books?$filter=@a%20or%20@a%20or%20@a&@a=Id%20eq%201", plan.Limits{FilterNodes: 12}, false},
		{"lambdas", "Books?$filter=Sequels/any(a:a/Sequels/any(b:b/Sequels/any(c:c/Sequels/any(d:d/Id%20eq%201))))", plan.Limits{}, false},
		{"lambdas allowed", "Books?$filter=Sequels/any(a:a/Sequels/any(b:b/Sequels/any(c:c/Id%20eq%201)))", plan.Limits{}, true},
		{"alias in a circle", "Books?$filter=@a&@a=not%20@a", plan.Limits{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := build(t, c.target, bind.Options{Caller: reader(), Limits: c.limits})
			var fault *plan.Error
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &fault) || fault.Kind != plan.Malformed && fault.Kind != plan.TooLarge) {
				t.Errorf("got %v, want ok %v", err, c.ok)
			}
		})
	}
}

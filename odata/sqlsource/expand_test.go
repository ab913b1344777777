package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func testExpand(t *testing.T, s *shop) {
	cases := [][2]string{
		{"Products(1)?$select=id&$expand=category($select=name)", "[1 {[Hammers]}]"},
		{"Products(4)?$select=id&$expand=category,tags", "[4 {} {}]"},
		{"Products?$select=id&$top=2&$expand=tags($select=label)", "[1 {[red][blue]}][2 {[red]}]"},
		{"Products?$select=id&$filter=tags/any()&$expand=tags($select=label;$orderby=label;$top=1)", "[1 {[blue]}][2 {[red]}]"},
		{"Products?$select=id&$filter=tags/any()&$expand=tags($select=label;$skip=1)", "[1 {[blue]}][2 {}]"},
		{"Products?$select=id&$filter=tags/any()&$expand=tags($select=id;$skip=5;$count=true)", "[1 {#2}][2 {#1}]"},
		{"Products?$select=id&$filter=tags/any()&$expand=tags($select=id;$top=0;$count=true)", "[1 {#2}][2 {#1}]"},
		{"Products?$select=id&$filter=tags/any()&$expand=tags($select=id;$count=true)", "[1 {[1][2]#2}][2 {[1]#1}]"},
		{"Products?$select=id&$top=3&$expand=tags/$count", "[1 {#2}][2 {#1}][3 {#0}]"},
		{"Products?$select=id&$top=2&$expand=tags/$count($filter=label eq 'blue')", "[1 {#1}][2 {#0}]"},
		{"Products?$select=id&$top=2&$expand=tags/$ref", "[1 {[1][2]}][2 {[1]}]"},
		{"Products?$select=id&$top=2&$expand=tags($filter=startswith(label,'b');$select=id)", "[1 {[2]}][2 {}]"},
		{"Categories?$select=id&$expand=products($select=id;$orderby=price desc,id)", "[1 {[6][7][3]}][2 {[1][2]}][3 {[5]}][4 {}]"},
		{"Categories?$select=id&$expand=products($select=id;$expand=tags($select=label))&$top=2", "[1 {[3 {}][6 {}][7 {}]}][2 {[1 {[red][blue]}][2 {[red]}]}]"},
		{"Categories?$select=id&$expand=Categories_parent($select=id;$expand=Categories_parent($select=id))&$filter=id eq 1", "[1 {[2 {}][4 {}]}]"},
		{"Categories?$select=id&$expand=parent_Categories($select=id;$levels=max)&$filter=id eq 2", "[2 {[1 {}]}]"},
		{"Categories?$select=id&$expand=parent_Categories($select=id;$levels=1)&$filter=id eq 2", "[2 {[1]}]"},
		{"Categories?$select=name&$expand=products($filter=category/name eq 'Hammers';$select=id)&$top=2", "[Tools {}][Hammers {[1][2]}]"},
		{"Order_Details?$select=line&$expand=product_Products($select=id)", "[1 {[1]}][2 {[2]}][1 {[1]}]"},
		{"Products(1)?$select=id&$expand=Order_Details($select=order_no,line;$orderby=unit_price desc)", "[1 {[2,1][1,1]}]"},
		{"Products(1)/tags?$select=id&$expand=nothing", "400"},
		{"Products?$expand=name", "400"},
		{"Products?$expand=tags,tags", "400"},
		{"Products?$expand=category($top=1)", "400"},
		{"Products?$expand=category/$count", "400"},
		{"Products?$expand=tags($levels=2)", "400"},
		{"Products?$expand=cost", "400"},
		{"Products?$expand=$value", "501"},
		{"Products?$expand=tags($filter=$it/id eq 1)", "501"},
		{"Categories?$expand=*", "401"},
		{"Categories?$expand=products($expand=category($expand=products($expand=category($expand=products))))", "400"},
		{"Company?$expand=*", "[1,Vestibule]"},
		{"tags?$select=id&$expand=*", "[1][2][3]"},
	}
	check(t, s, cases)
}

// testExpandPages holds that expanded collections have pages and links of their own.
func testExpandPages(t *testing.T, s *shop) {
	cases := [][2]string{
		{"Categories?$select=id&$top=2&$expand=products($select=id)", "[1 {[3][6]+}][2 {[1][2]}]"},
		{"Categories?$select=id&$expand=products($select=id)", "[1 {[3][6]+}][2 {[1][2]}]+"},
		{"Categories?$select=id&$expand=products($select=id;$skip=2)&$skip=2", "[3 {}][4 {}]"},
		{"Categories?$select=id&$top=1&$expand=products($select=id;$skip=1)", "[1 {[6][7]}]"},
		{"Categories?$select=id&$top=1&$expand=products($select=id;$top=3)", "[1 {[3][6][7]}]"},
		{"Categories?$select=id&$top=1&$expand=products($select=id;$count=true)", "[1 {[3][6]+#3}]"},
	}
	s.limits = plan.Limits{PageSize: 2}
	check(t, s, cases)
	s.limits.MaxTop = 2
	check(t, s, [][2]string{
		{"Categories?$top=3", "400"},
		{"Categories?$top=2&$select=id", "[1][2]"},
		{"Categories?$expand=products($top=3)", "400"},
	})
}

func testCompute(t *testing.T, s *shop) {
	cases := [][2]string{
		{"Products?$compute=stock mul 2 as twice&$select=id,twice&$top=2", "[1,10][2,0]"},
		{"Products?$compute=stock mul 2 as twice,twice add 1 as more&$select=more&$filter=twice gt 10&$orderby=twice desc", "[201][15]"},
		{"Products?$compute=price mul 2 as p&$select=p&$top=1", "[21]"},
		{"Products?$compute=price div 3 as p&$select=p&$filter=id eq 5", "[33.3333333333]"},
		{"Products?$compute=price divby 8 as p&$select=p&$filter=id in (1,3)", "[1.3125][0.0375]"},
		{"Products?$compute=weight mul 2 as w&$select=w&$filter=id eq 1", "[3]"},
		{"Products?$compute=category/name as cat&$select=id,cat&$top=1", "[1,Hammers]"},
		{"Products?$compute=concat(name,'!') as n,year(released) as y,released add duration'PT0.5S' as r&$select=n,y,r&$top=1", "[Hammer!,2024,2024-01-15T10:30:00.5Z]"},
		{"Products?$compute=released sub 2024-01-15T00:00:00Z as d,date(released) as day2,time(released) as t&$select=d,day2,t&$top=1", "[PT10H30M,2024-01-15,10:30:00]"},
		{"Products?$compute=price gt 10 as dear,fractionalseconds(released) as f,totalseconds(duration'PT1.5S') as s&$select=dear,f,s&$top=1", "[1,0,1.5]"},
		{"Products?$compute=case(stock gt 4:'many',true:'few') as c,null as n&$select=c,n&$top=2", "[many,null][few,null]"},
		{"Products?$compute=round(weight) as r,floor(price) as f,-stock as m&$select=r,f,m&$top=1", "[2,10,-5]"},
		{"Products?$compute=tags/$count as n&$select=n&$top=2", "[2][1]"},
		{"Products?$compute=uid as u,data as b,Status as st&$select=u,b,st&$top=1", "[0a0b0c0d-0000-0000-0000-000000000001,00ff,1]"},
		{"Products?$compute=cast(stock,Edm.Double) as d,cast(price,Edm.Int32) as i,cast(opens,Edm.String) as o&$select=d,i,o&$top=1", "[5,10,08:00:00]"},
		{"Products?$compute=stock as name", "400"},
		{"Products?$compute=stock as a,price as a", "400"},
		{"Products?$compute=category as a", "400"},
		{"Products?$select=tags&$expand=tags($compute=length(label) as l;$select=l)&$top=1", "[ {[3][4]}]"},
	}
	check(t, s, cases)
}

func testSearch(t *testing.T, s *shop) {
	cases := [][2]string{
		{"Products?$select=id&$search=hammer", "[1][2]"},
		{"Products?$select=id&$search=HAM", "[1][2][5]"},
		{"Products?$select=id&$search=ham heavy", "[1]"},
		{"Products?$select=id&$search=heavy OR clef", "[1][6]"},
		{"Products?$select=id&$search=ham AND NOT heavy", "[2][5]"},
		{"Products?$select=id&$search=\"100%\"", "[3]"},
		{"Products?$select=id&$search=ÄPFEL", "[3]"},
		{"Products?$select=id&$search=a1", ""},
		{"Products/$count?$search=ham", "3"},
		{"Products?$select=id&$search=ham&$filter=active&$count=true", "[1]#1"},
		{"Categories?$select=id&$expand=products($search=ham;$select=id)", "[1 {}][2 {[1][2]}][3 {[5]}][4 {}]"},
		{"Categories?$search=x", "501"},
	}
	check(t, s, cases)
}

// testAccess holds that guards and row policies hold on every way in.
func testAccess(t *testing.T, s *shop) {
	nobody := [][2]string{
		{"Mine", "401"},
		{"Mine(1)", "401"},
		{"Mine/$count", "401"},
		{"Mine(1)/name", "401"},
	}
	mine := [][2]string{
		{"Mine?$select=id&$count=true", "[1][2][5][6][7]#5"},
		{"Mine/$count", "5"},
		{"Mine(1)/name", "[Hammer]"},
		{"Mine(3)", ""},
		{"Mine(3)/name", ""},
		{"Mine(3)/group", "404"},
		{"Mine(sku='B_1')", ""},
		{"Mine?$filter=tenant eq 2", "400"},
		{"Mine?$select=tenant", "400"},
		{"Mine?$orderby=tenant", "400"},
		{"Mine?$compute=tenant add 1 as x", "400"},
		{"Mine(1)/tenant", "404"},
		{"Mine?$select=id&$filter=group eq null", "[5]"},
		{"Mine(5)/group", ""},
		{"Mine?$select=id&$orderby=group/name,id", "[5][1][2][6][7]"},
		{"Mine?$select=id&$filter=group/name eq 'tools'", ""},
		{"Mine?$select=id&$expand=group($select=name)&$filter=id in (1,5)", "[1 {[Hammers]}][5 {}]"},
		{"Owned?$select=id&$expand=items($select=id)", "[1 {[6][7]}][2 {[1][2]}]"},
		{"Owned?$select=id&$expand=items/$count", "[1 {#2}][2 {#2}]"},
		{"Owned(1)/items?$select=id", "[6][7]"},
		{"Owned(1)/items/$count", "2"},
		{"Owned(1)/items(3)", ""},
		{"Owned(3)/items", "404"},
		{"Owned?$select=id&$filter=items/any(i:i/id eq 3)", ""},
		{"Owned?$select=id&$filter=items/all(i:i/id ge 6)", "[1]"},
		{"Owned?$select=id&$filter=items/$count eq 2", "[1][2]"},
		{"Owned?$select=id&$filter=$root/Mine(3)/name eq null", "[1][2]"},
		{"Owned?$select=id&$orderby=items/$count,id desc", "[2][1]"},
	}
	check(t, s, nobody)
	none := [][2]string{{"Mine", ""}, {"Mine(1)", ""}, {"Mine/$count", "0"}, {"Owned(1)/items", "404"}}
	for name, user := range map[string]map[string]any{
		"no column":   nil,
		"null":        {"partner_id": nil},
		"other value": {"partner_id": int64(77)},
		"unreadable":  {"partner_id": "seven"},
	} {
		s.caller = plan.Caller{SignedIn: true, User: user}
		t.Run(name, func(t *testing.T) { check(t, s, none) })
	}
	for name, value := range map[string]any{"integer": int64(1), "text": "1", "bytes": []byte("1")} {
		s.caller = plan.Caller{SignedIn: true, User: map[string]any{"partner_id": value}}
		t.Run(name, func(t *testing.T) { check(t, s, mine) })
	}
}

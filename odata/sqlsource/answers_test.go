package sqlsource_test

import "testing"

// TestShop holds that a request has the same, right answer on every database. A database is filled once for all of it.
func TestShop(t *testing.T) {
	parts := map[string]func(*testing.T, *shop){
		"answers": testAnswers, "filters": testFilters, "expand": testExpand, "pages": testExpandPages, "compute": testCompute,
		"search": testSearch, "access": testAccess, "explain": testExplain, "model": testModel,
	}
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for name, part := range parts {
				t.Run(name, func(t *testing.T) {
					own := *s // limits and caller are each part's own
					part(t, &own)
				})
			}
		})
	}
}

func testAnswers(t *testing.T, s *shop) {
	cases := map[string][][2]string{
		"values": {
			{"Products(1)", "[1,Hammer,A1,10.50,1.5,5,1,1,2024-01-15T10:30:00Z,2024-01-15,08:00:00,0a0b0c0d-0000-0000-0000-000000000001,00ff,heavy,2,(Main St,Bern)]"},
			{"Products(3)", "[3,Äpfel 100%,B_1,0.30,2.5,7,1,4,null,null,null,null,null, pad ,1,(null,null)]"},
			{"Products(5)?$select=weight,uid", "[1e+20,ffffffff-ffff-ffff-ffff-ffffffffffff]"},
			{"Products(2)?$select=uid,active,note", "[0,0a0b0c0d-0000-0000-0000-00000000000f,null]"},
			{"Company", "[1,Vestibule]"},
			{"Company/name", "[Vestibule]"},
			{"Cheap?$select=id", "[2][3][6][7]"},
		},
		"selection": {
			{"Products(1)?$select=name,ship/city", "[Hammer,(Bern)]"},
			{"Products(1)?$select=ship", "[(Main St,Bern)]"},
			{"Products(1)?$select=ship($select=city),id", "[1,(Bern)]"},
			{"Products(1)?$select=*", "[1,Hammer,A1,10.50,1.5,5,1,1,2024-01-15T10:30:00Z,2024-01-15,08:00:00,0a0b0c0d-0000-0000-0000-000000000001,00ff,heavy,2,(Main St,Bern)]"},
			{"Products(1)?$select=category", "[]"},
			{"Products(1)?$select=Shop.Product/name", "[Hammer]"},
			{"Products(1)?$select=cost", "400"},
			{"Products(1)?$select=nothing", "400"},
			{"Products(1)?$select=name/x", "400"},
		},
		"paths": {
			{"Products(1)/name", "[Hammer]"},
			{"Products(1)/name/$value", "[Hammer]"},
			{"Products(1)/ship", "[(Main St,Bern)]"},
			{"Products(1)/ship/city", "[Bern]"},
			{"Products(1)/ship?$select=city", "[(Bern)]"},
			{"Products(2)/note", "[null]"},
			{"Products(1)/category/name", "[Hammers]"},
			{"Products(1)/category/parent_Categories/name", "[Tools]"},
			{"Products(4)/category", ""},
			{"Products(4)/category/name", ""},
			{"Products(99)/category", "404"},
			{"Products(99)/tags", "404"},
			{"Products(4)/tags", ""},
			{"Products(1)/tags?$select=label", "[red][blue]"},
			{"Products(1)/tags/$count", "2"},
			{"Products(1)/tags(2)/label", "[blue]"},
			{"Products(2)/tags(2)", ""},
			{"Categories(2)/products?$select=id&$count=true", "[1][2]#2"},
			{"Categories(2)/products(1)/name", "[Hammer]"},
			{"Categories(2)/products(3)", ""},
			{"Categories(2)/products/1/name", "[Hammer]"},
			{"Products/1/name", "[Hammer]"},
			{"Products/nothing", "404"},
			{"Products(sku='A1')/name", "[Hammer]"},
			{"Products(sku='a1')", ""},
			{"Products(id=1)/name", "[Hammer]"},
			{"Products(@k)/name?@k=1", "[Hammer]"},
			{"Products('1')", "404"},
			{"Products(null)", "400"},
			{"Products(id=1,sku='A1')", "400"},
			{"Order_Details(order_no=1,line=2)/unit_price", "[9.00]"},
			{"Order_Details/1/2/_2nd", "[null]"},
			{"Order_Details(1)", "400"},
			{"Products/$count", "7"},
			{"Products/$count?$filter=active&$top=1", "5"},
			{"Products/$filter(active)/$count", "5"},
			{"Products/$filter(stock gt 2)?$select=id&$filter=active", "[1][3]"},
			{"Products/$ref?$top=2", "[1][2]"},
			{"Products(1)/category/$ref", "[2]"},
			{"Products(1)/Shop.Product/name", "[Hammer]"},
			{"Products(1)/cost", "404"},
			{"Products(1)/name/$count", "404"},
			{"Products(1)/$value", "400"},
			{"users", "404"},
			{"vestibule_sessions", "404"},
			{"products", "404"},
			{"$crossjoin(Products,Categories)", "501"},
			{"$all", "501"},
			{"Company(1)", "404"},
			{"Products(1)?$top=1", "400"},
			{"Products(1)?$filter=active", "400"},
			{"Products?$skiptoken=1", "400"},
			{"Products?$index=1", "501"},
		},
		"windows": {
			{"Products?$select=id&$top=2&$skip=1", "[2][3]"},
			{"Products?$select=id&$top=0&$count=true", "#7"},
			{"Products?$select=id&$skip=5", "[6][7]"},
			{"Products?$select=id&$skip=9223372036854775807", ""},
			{"Products?$select=id&$top=9223372036854775807&$skip=6", "[7]"},
			{"Products?$select=id&$skip=5&$count=true", "[6][7]#7"},
		},
		"order": {
			{"Products?$select=id&$orderby=name", "[5][1][4][2][3][7][6]"},
			{"Products?$select=id&$orderby=name desc", "[6][7][3][2][4][1][5]"},
			{"Products?$select=id&$orderby=price,id desc", "[4][3][7][6][2][1][5]"},
			{"Products?$select=id&$orderby=price desc", "[5][1][2][6][7][3][4]"},
			{"Products?$select=id&$orderby=category/name,id", "[4][1][2][3][6][7][5]"},
			{"Products?$select=id&$orderby=category/name desc", "[5][3][6][7][1][2][4]"},
			{"Products?$select=id&$orderby=tags/$count desc", "[1][2][3][4][5][6][7]"},
			{"Products?$select=id&$orderby=released desc,id", "[2][5][1][6][4][3][7]"},
			{"Products?$select=id&$orderby=active,stock mod 2 desc", "[2][5][1][3][6][7][4]"},
			{"Products?$select=id&$orderby=ship/city", "[3][5][6][7][1][4][2]"},
			{"Products?$select=id&$orderby=uid", "[3][4][6][7][1][2][5]"},
			{"Products?$orderby=category", "400"},
			{"Products?$orderby=cost", "400"},
			{"Products?$orderby=ship", "400"},
		},
	}
	for group, list := range cases {
		t.Run(group, func(t *testing.T) { check(t, s, list) })
	}
}

func check(t *testing.T, s *shop, list [][2]string) {
	t.Helper()
	for _, c := range list {
		if got := s.get(c[0]); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

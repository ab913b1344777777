package sqlsource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

func TestFindingsNamePlaceAndRemedy(t *testing.T) {
	set := func(change func(*sqlsource.EntitySet)) sqlsource.Config {
		s := sqlsource.EntitySet{Name: "Products", Table: "products"}
		change(&s)
		return sqlsource.Config{EntitySets: []sqlsource.EntitySet{s, {Name: "Categories", Table: "categories"}}}
	}
	nav := func(n sqlsource.Navigation) sqlsource.Config {
		return set(func(s *sqlsource.EntitySet) { s.Navigations = []sqlsource.Navigation{n} })
	}
	property := func(p sqlsource.Property) sqlsource.Config {
		return set(func(s *sqlsource.EntitySet) { s.Properties = []sqlsource.Property{p} })
	}
	cases := map[string]struct {
		cfg  sqlsource.Config
		want string
	}{
		"hidden column that is not there": {
			set(func(s *sqlsource.EntitySet) { s.Hide = []string{"cots"} }),
			`entity_set.Products.hide: no column "cots": did you mean "cost"?`,
		},
		"hidden key": {
			set(func(s *sqlsource.EntitySet) { s.Hide = []string{"id"} }),
			`entity_set.Products.hide: the column "id" belongs to the key and cannot be hidden`,
		},
		"no such table": {
			set(func(s *sqlsource.EntitySet) { s.Table = "product" }),
			`entity_set.Products.table: there is no table or view "product": did you mean "products"?`,
		},
		"users": {
			set(func(s *sqlsource.EntitySet) { s.Table = "users" }),
			`entity_set.Products.table: "users" holds credentials and cannot be exposed: expose a view that you have made for it`,
		},
		"users in disguise": {
			set(func(s *sqlsource.EntitySet) { s.Table = `main."USERS"` }),
			`entity_set.Products.table: "main."USERS"" holds credentials`,
		},
		"own tables": {
			set(func(s *sqlsource.EntitySet) { s.Table = "Vestibule_Sessions" }),
			`holds credentials and cannot be exposed`,
		},
		"reset tokens as a singleton": {
			sqlsource.Config{Singletons: []sqlsource.EntitySet{{Name: "Tokens", Table: "[password_reset_tokens]"}}},
			`singleton.Tokens.table: "[password_reset_tokens]" holds credentials`,
		},
		"users in between": {
			nav(sqlsource.Navigation{Name: "x", To: "Categories", Many: true, Via: "users", FromKey: "id", ToKey: "id"}),
			`entity_set.Products.navigation.x.via: "users" holds credentials and cannot be used`,
		},
		"set name": {
			sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "Pro ducts", Table: "products"}}},
			`entity_set."Pro ducts": the name is no identifier`,
		},
		"set twice": {
			sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "P", Table: "products"}, {Name: "P", Table: "tags", Type: "Q"}}},
			`entity_set.P: the name is taken`,
		},
		"type twice": {
			sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "P", Table: "products"}, {Name: "Q", Table: "tags", Type: "P"}}},
			`entity_set.Q.type: the type name "P" is taken`,
		},
		"guard": {
			set(func(s *sqlsource.EntitySet) { s.Guard = "open" }),
			`entity_set.Products.guard: there is no guard "open": use session, settled or none`,
		},
		"key": {
			set(func(s *sqlsource.EntitySet) { s.Key = []string{"idd"} }),
			`entity_set.Products.key: no column "idd": did you mean "id"?`,
		},
		"view without a key": {
			sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "Cheap", Table: "cheap"}}},
			`entity_set.Cheap.key: "cheap" has no primary key: name the columns that identify a row`,
		},
		"discovered view": {
			sqlsource.Config{Discover: []string{"cheap"}},
			`discover: "cheap" has no primary key: name its key in an entity_set`,
		},
		"discovered nothing": {
			sqlsource.Config{Discover: []string{"categorys"}},
			`discover: there is no table or view "categorys": did you mean "categories"?`,
		},
		"search": {
			set(func(s *sqlsource.EntitySet) { s.Hide, s.Search = []string{"note"}, []string{"note"} }),
			`entity_set.Products.search: the column "note" is hidden and cannot be searched`,
		},
		"policy with a fault": {
			set(func(s *sqlsource.EntitySet) { s.Filter = "tenannt eq 1" }),
			`entity_set.Products.filter: there is no property "tenannt"`,
		},
		"policy that does not parse": {
			set(func(s *sqlsource.EntitySet) { s.Filter = "tenant eq" }),
			`entity_set.Products.filter: `,
		},
		"policy with an unknown alias": {
			set(func(s *sqlsource.EntitySet) { s.Filter = "tenant eq @me" }),
			`entity_set.Products.filter: @me is unknown; a column of the user is @user_COLUMN`,
		},
		"policy of nobody": {
			set(func(s *sqlsource.EntitySet) { s.Filter, s.Guard = "tenant eq @user_id", "none" }),
			`entity_set.Products.filter: it names a column of the user, but guard "none" lets in who is nobody`,
		},
		"policy of a wrong type": {
			set(func(s *sqlsource.EntitySet) { s.Filter = "tenant eq 'x'" }),
			`entity_set.Products.filter: eq does not work on`,
		},
		"property": {
			property(sqlsource.Property{Column: "prize", Name: "p"}),
			`entity_set.Products.property.prize: no column "prize": did you mean "price"?`,
		},
		"property name": {
			property(sqlsource.Property{Column: "price", Name: "a b"}),
			`entity_set.Products.property.price.name: the name is no identifier`,
		},
		"property name taken": {
			property(sqlsource.Property{Column: "price", Name: "name"}),
			`entity_set.Products.property.price.name: the name "name" is taken`,
		},
		"property type": {
			property(sqlsource.Property{Column: "price", Type: "Edm.Decimel"}),
			`entity_set.Products.property.price.type: there is no type "Edm.Decimel": did you mean "Edm.Decimal"?`,
		},
		"complex": {
			set(func(s *sqlsource.EntitySet) { s.Complexes = []sqlsource.Complex{{Type: "Address", Prefix: "shop_"}} }),
			`entity_set.Products.complex.Address.prefix: no column begins with "shop_"`,
		},
		"complex name taken": {
			set(func(s *sqlsource.EntitySet) {
				s.Complexes = []sqlsource.Complex{{Type: "Address", Name: "name", Prefix: "ship_"}}
			}),
			`entity_set.Products.complex.Address.name: the name "name" is taken`,
		},
		"navigation target": {
			nav(sqlsource.Navigation{Name: "c", To: "Categorie", On: map[string]string{"category_id": "id"}}),
			`entity_set.Products.navigation.c.to: there is no entity set "Categorie": did you mean "Categories"?`,
		},
		"navigation column": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories", On: map[string]string{"categoryid": "id"}}),
			`entity_set.Products.navigation.c.on: no column "categoryid": did you mean "category_id"?`,
		},
		"navigation to one of many": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories", On: map[string]string{"name": "name"}}),
			`entity_set.Products.navigation.c.on: the columns "name" do not identify one row of "Categories": add many = true`,
		},
		"navigation on nothing": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories"}),
			`entity_set.Products.navigation.c.on: it says neither on nor via`,
		},
		"navigation name taken": {
			nav(sqlsource.Navigation{Name: "name", To: "Categories", Many: true, On: map[string]string{"name": "name"}}),
			`entity_set.Products.navigation.name: the name is taken`,
		},
		"navigation via nothing": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories", Many: true, Via: "product_tag", FromKey: "a", ToKey: "b"}),
			`entity_set.Products.navigation.c.via: there is no table "product_tag": did you mean "product_tags"?`,
		},
		"navigation via a wrong column": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories", Many: true, Via: "product_tags", FromKey: "productid", ToKey: "tag_id"}),
			`entity_set.Products.navigation.c.from_key: no column "productid" in "product_tags": did you mean "product_id"?`,
		},
		"navigation via for one": {
			nav(sqlsource.Navigation{Name: "c", To: "Categories", Via: "product_tags", FromKey: "product_id", ToKey: "tag_id"}),
			`entity_set.Products.navigation.c.many: a way through a table in between leads to many: add many = true`,
		},
		"enumeration": {
			sqlsource.Config{Enums: []sqlsource.Enum{{Name: "E", Members: map[string]int64{"a b": 1}}, {Name: "F"}}},
			`enum.E.members: the member "a b" is no identifier`,
		},
		"label of no member": {
			sqlsource.Config{Enums: []sqlsource.Enum{{Name: "E", Members: map[string]int64{"Open": 1}, Labels: map[string]string{"Opne": "Still open"}}}},
			`enum.E.labels.Opne: there is no member "Opne": did you mean "Open"?`,
		},
	}
	db := database(t, "sqlite", ddl("sqlite")+";\nCREATE TABLE password_reset_tokens (email TEXT PRIMARY KEY)")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.cfg.Protected = reserved.Table
			_, err := sqlsource.New(context.Background(), db, c.cfg)
			var invalid *sqlsource.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAllFindingsAtOnce(t *testing.T) {
	db := database(t, "sqlite", ddl("sqlite"))
	_, err := sqlsource.New(context.Background(), db, sqlsource.Config{
		EntitySets: []sqlsource.EntitySet{{Name: "A", Table: "nothing"}, {Name: "B", Table: "tags", Hide: []string{"x"}, Guard: "y"}},
	})
	var invalid *sqlsource.Invalid
	if !errors.As(err, &invalid) || len(invalid.Findings) != 3 {
		t.Fatalf("got %v", err)
	}
	if want := []string{"entity_set", "B", "guard"}; !slices.Equal(invalid.Findings[1].Path, want) {
		t.Errorf("got path %q, want %q", invalid.Findings[1].Path, want)
	}
}

func TestPolicyColumns(t *testing.T) {
	s := openShop(t, "sqlite")
	got, err := s.PolicyColumns()
	if err != nil || len(got) != 2 || got[0].Column != "partner_id" || !slices.Equal(got[0].Path, []string{"entity_set", "Mine", "filter"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDiscoverPassesOverCredentials(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := open(t, database(t, d, ddl(d)), sqlsource.Config{Protected: reserved.Table, Discover: []string{"*", "users", "VESTIBULE_sessions"}})
			var names []string
			for _, set := range s.Model().Sets {
				names = append(names, set.Name)
			}
			slices.Sort(names)
			want := "Order_Details categories company products tags"
			if got := strings.Join(names, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			for _, nav := range s.Model().EntityType("products").Navigation {
				names = append(names, nav.Name)
			}
			if got, want := strings.Join(names[5:], " "), "category Order_Details"; got != want && got != "Order_Details category" {
				t.Errorf("navigation: got %s, want %s", got, want)
			}
		})
	}
}

// testModel holds what introspection finds, the same on every database but for the sizes of integers.
func testModel(t *testing.T, s *shop) {
	want := map[string]edm.Kind{
		"name": edm.String, "price": edm.Decimal, "weight": edm.Double, "active": edm.Boolean, "released": edm.DateTimeOffset,
		"day": edm.Date, "opens": edm.TimeOfDay, "uid": edm.Guid, "data": edm.Binary, "Status": edm.Enum, "ship": edm.Complex,
	}
	m := s.Model()
	p := m.EntityType("Product")
	for name, kind := range want {
		if got := p.Property(name); got == nil || got.Type.Kind != kind {
			t.Errorf("%s: got %+v, want %v", name, got, kind)
		}
	}
	if n := p.Property("name"); n.Nullable || n.Type.MaxLength != 80 {
		t.Errorf("name: %+v", n)
	}
	if price := p.Property("price"); !price.Nullable || price.Type.Precision != 10 || price.Type.Scale != 2 {
		t.Errorf("price: %+v", price)
	}
	if len(p.AlternateKeys) != 1 || p.AlternateKeys[0][0].Name != "sku" {
		t.Errorf("alternate keys: %+v", p.AlternateKeys)
	}
	if c := p.Nav("category"); c == nil || !c.Nullable || c.Collection || c.Partner != "products" ||
		!c.Constrained || len(c.Pairs) != 1 || c.Pairs[0].Own[0].Name != "category_id" {
		t.Errorf("category: %+v", c)
	}
	if cost := p.Property("cost"); cost != nil || len(p.Hidden) != 2 {
		t.Errorf("hidden: %+v", p.Hidden)
	}
	if key := m.Set("Order_Details").Type.Key; len(key) != 2 || key[0].Name != "order_no" {
		t.Errorf("key: %+v", key)
	}
	if one := m.Singleton("Company"); one == nil || !one.Single() {
		t.Errorf("singleton: %+v", one)
	}
}

func TestOpenRefuses(t *testing.T) {
	cases := map[string]sqlsource.Database{
		"no dialect":      {},
		"unknown dialect": {Dialect: "oracle"},
		"memory":          {Dialect: "sqlite", DSN: ":memory:"},
		"missing file":    {Dialect: "sqlite", DSN: t.TempDir() + "/nothing.db"},
		"no handle":       {Dialect: "postgres"},
	}
	for name, db := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := sqlsource.New(context.Background(), db, sqlsource.Config{}); err == nil {
				t.Error("opened")
			}
		})
	}
}

// Many tables may become one identifier; each set gets a name of its own.
func TestDiscoverNamesManyTablesThatAreAlike(t *testing.T) {
	var script []string
	long := strings.Repeat("x", 60)
	for _, c := range " -+*/$%&!?=,;:^~|<>" {
		script = append(script, fmt.Sprintf(`CREATE TABLE "a%cb" (id INTEGER PRIMARY KEY)`, c), fmt.Sprintf(`CREATE TABLE "%s%c%s" (id INTEGER PRIMARY KEY)`, long, c, long+long))
	}
	s := open(t, database(t, "sqlite", strings.Join(script, ";\n")), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
	names := map[string]bool{}
	for _, set := range s.Model().Sets {
		names[set.Name] = true
	}
	if len(names) != len(script) || !names["a_b"] || !names["a_b_2"] || !names["a_b_19"] {
		t.Errorf("%d names of %d tables", len(names), len(script))
	}
}

func TestWhatIsExposedOfCredentials(t *testing.T) {
	const script = `CREATE TABLE users (id INTEGER PRIMARY KEY, Password TEXT);
CREATE TABLE sessions (id TEXT PRIMARY KEY, payload TEXT);
CREATE TABLE api_keys (id INTEGER PRIMARY KEY, api_token TEXT);
CREATE TABLE Vestibule_outbox (id INTEGER PRIMARY KEY, recipient TEXT);
CREATE TABLE training_sessions (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE products (id INTEGER PRIMARY KEY)`
	host := func(c sqlsource.Config) sqlsource.Config {
		c.Protected, c.PassOver = reserved.Table, reserved.SessionTable
		return c
	}
	everything := sqlsource.Config{Discover: []string{"*"}}
	tests := map[string]struct {
		cfg  sqlsource.Config
		want string
	}{
		"a host":                    {host(everything), "api_keys products training_sessions"},
		"a host, by name":           {host(sqlsource.Config{Discover: []string{"sessions", "users"}}), "sessions"},
		"nothing is said":           {everything, "products"},
		"nothing is said, by name":  {sqlsource.Config{Discover: []string{"training_sessions", "USERS", "api_keys", "vestibule_outbox"}}, "training_sessions"},
		"hidden credentials":        {sqlsource.Config{EntitySets: []sqlsource.EntitySet{{Name: "keys", Table: "api_keys", Hide: []string{"API_token"}}}}, "keys"},
		"a pattern in the middle":   {host(sqlsource.Config{Discover: []string{"p*d*ts", "*x*", "t*g_*z"}}), "products"},
		"a pattern of session ones": {host(sqlsource.Config{Discover: []string{"*sessions"}}), "training_sessions"},
	}
	db := database(t, "sqlite", script)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, set := range open(t, db, tt.cfg).Model().Sets {
				names = append(names, set.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for _, cfg := range []sqlsource.Config{{}, host(sqlsource.Config{})} {
		cfg.EntitySets = []sqlsource.EntitySet{{Name: "U", Table: `"USERS"`}}
		if _, err := sqlsource.New(t.Context(), db, cfg); err == nil || !strings.Contains(err.Error(), "holds credentials") {
			t.Errorf("users by name: %v", err)
		}
	}
}

package odatatest

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// LinkTables are the data that the rules for links begin with, in an order that foreign keys allow. Ada is the user 1, Bob the
// user 2.
func LinkTables() []Table {
	return []Table{
		{
			Name: "customers", Key: []string{"id"}, Unique: []string{"name"}, Columns: []string{"id auto!", "name str!", "owner big!"},
			Rows: [][]any{{1, "Acme", 1}, {2, "Bolt", 1}, {3, "Bob's", 2}},
		},
		{Name: "makers", Key: []string{"id"}, Columns: []string{"id big!", "name str!"}, Rows: [][]any{{1, "Maker"}}},
		{
			Name: "products", Key: []string{"id"}, Foreign: []string{"parent_id -> products(id)", "maker_id -> makers(id)"},
			Columns: []string{"id str!", "name str!", "parent_id str", "maker_id big"},
			Rows:    [][]any{{"P1", "Anvil", nil, 1}, {"P2", "Small anvil", "P1", nil}, {"P3", "Rope", nil, nil}},
		},
		{
			Name: "currencies", Key: []string{"id"}, Unique: []string{"symbol"}, Columns: []string{"id auto!", "symbol str!"},
			Rows: [][]any{{1, "EUR"}, {2, "CHF"}},
		},
		{
			Name: "orders", Key: []string{"id"}, Foreign: []string{"customer_id -> customers(id)"},
			Columns: []string{"id auto!", "customer_id big", "note str", "owner big!", "version big!"},
			Rows:    [][]any{{1, 1, "first", 1, 1}, {2, nil, "second", 1, 1}, {3, 3, "bob's", 2, 1}},
		},
		{
			Name: "items", Key: []string{"id"}, Foreign: []string{"order_id -> orders(id)", "product_id -> products(id)", "currency -> currencies(symbol)"},
			Defaults: map[string]string{"amount": "1"},
			Columns:  []string{"id auto!", "order_id big", "product_id str!", "price dec!", "amount big!", "currency str", "locked bool", "changed ts"},
			Rows:     [][]any{{1, 1, "P1", "10.5", 1, "EUR", nil, nil}, {2, 1, "P3", "2", 5, nil, nil, nil}, {3, nil, "P3", "1", 1, nil, nil, nil}, {4, nil, "P1", "7", 1, nil, true, nil}},
		},
		{
			Name: "remarks", Key: []string{"order_id", "no"}, Foreign: []string{"order_id -> orders(id)"},
			Columns: []string{"order_id big!", "no big!", "text str!"}, Rows: [][]any{{1, 1, "a remark"}},
		},
		{
			Name: "reviews", Key: []string{"id"}, Foreign: []string{"product_id -> products(id)"},
			Columns: []string{"id auto!", "product_id str", "text str!"}, Rows: [][]any{{1, "P1", "good"}, {2, nil, "of nothing"}},
		},
		{Name: "tags", Key: []string{"code"}, Columns: []string{"code str!", "name str"}, Rows: [][]any{{"new", "new"}, {"old", nil}, {"it's/é", nil}}},
		{
			Name: "order_tags", Key: []string{"order_id", "tag_code"}, Foreign: []string{"order_id -> orders(id)", "tag_code -> tags(code)"},
			Columns: []string{"order_id big!", "tag_code str!"}, Rows: [][]any{{1, "old"}},
		},
		{
			Name: "related", Key: []string{"one_id", "other_id"}, Foreign: []string{"one_id -> products(id)", "other_id -> products(id)"},
			Columns: []string{"one_id str!", "other_id str!"}, Rows: [][]any{{"P1", "P3"}},
		},
		{Name: "holders", Key: []string{"id"}, Columns: []string{"id str!", "name str!"}, Rows: [][]any{{"h1", "One"}, {"h2", "Two"}, {"h3", "Three"}}},
		{
			Name: "passes", Key: []string{"id"}, Unique: []string{"holder_id"}, Foreign: []string{"holder_id -> holders(id)"},
			Columns: []string{"id auto!", "holder_id str", "text str!"}, Rows: [][]any{{1, "h1", "first"}, {2, nil, "second"}, {3, "h3", "locked"}, {4, nil, "locked"}},
		},
		{
			Name: "lockers", Key: []string{"id"}, Unique: []string{"holder_id"}, Foreign: []string{"holder_id -> holders(id)"},
			Columns: []string{"id auto!", "holder_id str!"}, Rows: [][]any{{1, "h1"}, {2, "h3"}},
		},
		{
			Name: "profiles", Key: []string{"holder_id"}, Foreign: []string{"holder_id -> holders(id)"},
			Columns: []string{"holder_id str!", "text str!"}, Rows: [][]any{{"h1", "of one"}},
		},
	}
}

// LinkMapping exposes LinkTables: foreign keys to keys and to other columns, hidden ones, those in keys and to the own table, and
// tables in between.
func LinkMapping() sqlsource.Config {
	writes := func() *sqlsource.Write { return &sqlsource.Write{Create: true, Update: true, Delete: true} }
	one := func(name, to, column, key string) sqlsource.Navigation {
		return sqlsource.Navigation{Name: name, To: to, On: map[string]string{column: key}}
	}
	many := func(name, to, key, column string) sqlsource.Navigation {
		return sqlsource.Navigation{Name: name, To: to, Many: true, On: map[string]string{key: column}}
	}
	customers, orders, items := writes(), writes(), writes()
	customers.Set = map[string]string{"owner": "@user_id"}
	orders.Set, orders.Filter, orders.Version = map[string]string{"owner": "@user_id"}, "owner eq @user_id", "version"
	items.Touch, items.Filter = map[string]string{"changed": "@now"}, "locked eq null or locked eq false"
	passes := writes()
	passes.Filter = "text ne 'locked'"
	return sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, Protected: protected,
		EntitySets: []sqlsource.EntitySet{
			{
				Name: "Customers", Table: "customers", Type: "Customer", Guard: "session", Hide: []string{"owner"}, Filter: "owner eq @user_id", Write: customers,
				Navigations: []sqlsource.Navigation{many("orders", "Orders", "id", "customer_id")},
			},
			{Name: "Makers", Table: "makers", Navigations: []sqlsource.Navigation{many("products", "Products", "id", "maker_id")}},
			{Name: "Products", Table: "products", Type: "Product", Write: writes(), Navigations: []sqlsource.Navigation{
				one("parent", "Products", "parent_id", "id"), many("children", "Products", "id", "parent_id"), one("maker", "Makers", "maker_id", "id"),
				many("items", "Items", "id", "product_id"), many("reviews", "Reviews", "id", "product_id"),
				{Name: "related", To: "Products", Many: true, Via: "related", FromKey: "one_id", ToKey: "other_id"},
			}},
			{Name: "Currencies", Table: "currencies", Write: writes(), Navigations: []sqlsource.Navigation{many("items", "Items", "symbol", "currency")}},
			{Name: "Orders", Table: "orders", Type: "Order", Hide: []string{"owner"}, Write: orders, Navigations: []sqlsource.Navigation{
				one("customer", "Customers", "customer_id", "id"), many("items", "Items", "id", "order_id"), many("remarks", "Remarks", "id", "order_id"),
				{Name: "tags", To: "Tags", Many: true, Via: "order_tags", FromKey: "order_id", ToKey: "tag_code"},
			}},
			{Name: "Items", Table: "items", Type: "Item", Write: items, Navigations: []sqlsource.Navigation{
				one("order", "Orders", "order_id", "id"), one("product", "Products", "product_id", "id"), one("money", "Currencies", "currency", "symbol"),
			}},
			{Name: "Remarks", Table: "remarks", Write: writes(), Navigations: []sqlsource.Navigation{one("order", "Orders", "order_id", "id")}},
			{Name: "Reviews", Table: "reviews", Hide: []string{"product_id"}, Write: writes(), Navigations: []sqlsource.Navigation{one("product", "Products", "product_id", "id")}},
			{Name: "Tags", Table: "tags", Write: &sqlsource.Write{Create: true, Update: true}, Navigations: []sqlsource.Navigation{
				{Name: "orders", To: "Orders", Many: true, Via: "order_tags", FromKey: "tag_code", ToKey: "order_id"},
			}},
			{Name: "Holders", Table: "holders", Type: "Holder", Write: writes(), Navigations: []sqlsource.Navigation{
				one("pass", "Passes", "id", "holder_id"), one("locker", "Lockers", "id", "holder_id"), one("profile", "Profiles", "id", "holder_id"),
			}},
			{Name: "Passes", Table: "passes", Type: "Pass", Write: passes, Navigations: []sqlsource.Navigation{one("holder", "Holders", "holder_id", "id")}},
			{Name: "Lockers", Table: "lockers", Type: "Locker", Write: writes(), Navigations: []sqlsource.Navigation{one("holder", "Holders", "holder_id", "id")}},
			{Name: "Profiles", Table: "profiles", Type: "Profile", Write: writes(), Navigations: []sqlsource.Navigation{one("holder", "Holders", "holder_id", "id")}},
		},
	}
}

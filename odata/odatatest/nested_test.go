package odatatest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The tables of these tests: a binary tree of 15 nodes, 1,200 products in 3 categories, and areas with 0 to 25 sites, which
// have 0 to 12 meters.
const (
	treeNodes     = 15
	soldProducts  = 1200
	soldCategory  = 3
	areasOfSites  = 6
	inEachOfThree = soldProducts / soldCategory
)

func nestedTables() []odatatest.Table {
	nodes := odatatest.Table{Name: "nodes", Key: []string{"id"}, Columns: []string{"id big!", "parent_id big"}}
	for i := 1; i <= treeNodes; i++ {
		var parent any
		if i > 1 {
			parent = i / 2
		}
		nodes.Rows = append(nodes.Rows, []any{i, parent})
	}
	categories := odatatest.Table{Name: "categories", Key: []string{"id"}, Columns: []string{"id big!"}}
	for i := range soldCategory {
		categories.Rows = append(categories.Rows, []any{i + 1})
	}
	products := odatatest.Table{Name: "products", Key: []string{"id"}, Columns: []string{"id big!", "category_id big!", "name str!"}}
	for i := range soldProducts {
		products.Rows = append(products.Rows, []any{i + 1, i%soldCategory + 1, fmt.Sprintf("Product %d", i+1)})
	}
	areas := odatatest.Table{Name: "areas", Key: []string{"id"}, Columns: []string{"id big!"}}
	sites := odatatest.Table{Name: "sites", Key: []string{"id"}, Columns: []string{"id big!", "area_id big!"}}
	meters := odatatest.Table{Name: "meters", Key: []string{"id"}, Columns: []string{"id big!", "site_id big!"}}
	for a := range areasOfSites {
		areas.Rows = append(areas.Rows, []any{a})
		for range a * a {
			site := len(sites.Rows)
			sites.Rows = append(sites.Rows, []any{site, a})
			for range site * site % 13 {
				meters.Rows = append(meters.Rows, []any{len(meters.Rows), site})
			}
		}
	}
	return []odatatest.Table{nodes, categories, products, areas, sites, meters}
}

func nestedMapping() sqlsource.Config {
	set := func(name, table string, navigation ...sqlsource.Navigation) sqlsource.EntitySet {
		return sqlsource.EntitySet{Name: name, Table: table, Navigations: navigation}
	}
	one := func(name, to, column string) sqlsource.Navigation {
		return sqlsource.Navigation{Name: name, To: to, On: map[string]string{column: "id"}}
	}
	many := func(name, to, column string) sqlsource.Navigation {
		return sqlsource.Navigation{Name: name, To: to, Many: true, On: map[string]string{"id": column}}
	}
	return sqlsource.Config{Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		set("Nodes", "nodes", one("parent", "Nodes", "parent_id"), many("children", "Nodes", "parent_id")),
		set("Categories", "categories", many("products", "Products", "category_id")),
		set("Products", "products", one("category", "Categories", "category_id")),
		set("Areas", "areas", many("sites", "Sites", "area_id")),
		set("Sites", "sites", one("area", "Areas", "area_id"), many("meters", "Meters", "site_id")),
		set("Meters", "meters", one("site", "Sites", "site_id")),
	}}
}

// TestNestedPages holds on all engines where the pages of expanded collections end.
func TestNestedPages(t *testing.T) {
	t.Parallel()
	all := subjects(t, nestedTables(), nestedMapping(), func(*sqlx.DB, string) {})
	t.Run("small answers are whole", func(t *testing.T) { smallAnswers(t, all) })
	t.Run("ended pages go on", func(t *testing.T) { endedPages(t, all) })
	t.Run("a cyclic expand is bounded", func(t *testing.T) { cyclicExpand(t, all) })
	t.Run("a nested top is kept or refused", func(t *testing.T) { nestedTop(t, all) })
}

// under is the service of a subject under other limits.
func (s subject) under(t *testing.T, limits odata.Limits) http.Handler {
	t.Helper()
	h, err := odata.New(s.Model, s.Source, odata.Options{Base: func(*http.Request) string { return "http://h" }, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func bodyOf(t *testing.T, h http.Handler, target string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
	r.RequestURI = "/" + strings.TrimPrefix(strings.ReplaceAll(target, " ", "%20"), "http://h/")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s gives %d: %.300s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

func parsed(t *testing.T, body string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return doc
}

// followed is a collection, or an entity, with the rows that next links lead to in their places, on all levels.
func followed(t *testing.T, h http.Handler, doc map[string]any) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, value := range doc {
		property, annotation, annotated := strings.Cut(name, "@")
		switch list, many := value.([]any); {
		case annotated && (annotation != "odata.count" || property == ""):
		case many:
			link := doc[name+"@odata.nextLink"]
			if name == "value" {
				link = doc["@odata.nextLink"]
			}
			rows := []any{}
			for {
				for _, row := range list {
					rows = append(rows, followed(t, h, row.(map[string]any)))
				}
				if link == nil {
					break
				}
				next := parsed(t, bodyOf(t, h, link.(string)))
				list, link = next["value"].([]any), next["@odata.nextLink"]
			}
			out[name] = rows
		default:
			if inner, ok := value.(map[string]any); ok {
				value = followed(t, h, inner)
			}
			out[name] = value
		}
	}
	return out
}

// smallAnswers holds that an answer that is small is whole, however many rows its pages could have.
func smallAnswers(t *testing.T, all []subject) {
	for _, target := range []string{
		"Nodes?$filter=id eq 1&$expand=children($expand=children($expand=children))",
		"Nodes?$filter=id eq 1&$expand=children($expand=children($expand=children($expand=children)))",
		"Nodes?$filter=id eq 1&$expand=children($levels=3)",
		"Nodes(1)?$expand=children($levels=max)",
	} {
		want := bodyOf(t, all[0].under(t, odata.Limits{}), target)
		if n := strings.Count(want, `"id":`); n != treeNodes || strings.Contains(want, "nextLink") {
			t.Errorf("GET %s gives %d rows, want %d and no link: %s", target, n, treeNodes, want)
		}
		for _, s := range all[1:] {
			if got := bodyOf(t, s.under(t, odata.Limits{}), target); got != want {
				t.Errorf("%s: GET %s\ngives %s\nwant  %s", s.name, target, got, want)
			}
		}
	}
}

// endedPages holds that pages that end early are the same on all engines, and that their links lead to all that
// one large answer has, and to no row twice.
func endedPages(t *testing.T, all []subject) {
	for _, c := range []struct {
		name, target string
		limits       odata.Limits
		ended        bool // whether the answer has links
	}{
		{"a tree under a small limit", "Nodes?$filter=id eq 1&$expand=children($expand=children($expand=children))", odata.Limits{Rows: 12}, true},
		{"a tree and its parents", "Nodes(1)?$expand=children($expand=parent,children($expand=parent,children($expand=parent)))", odata.Limits{Rows: 16}, true},
		{"levels", "Nodes(1)?$expand=children($levels=4)", odata.Limits{Rows: 10}, true},
		{"levels with counts", "Nodes(1)?$expand=children($levels=4;$count=true)", odata.Limits{Rows: 10}, true},
		{"levels in small pages", "Nodes?$expand=children($levels=3)", odata.Limits{PageSize: 1}, true},
		{"every node", "Nodes?$expand=children($expand=children)", odata.Limits{Rows: 40}, true},
		{"uneven", "Areas?$expand=sites($expand=meters)", odata.Limits{}, false},
		{"uneven under a small limit", "Areas?$expand=sites($expand=meters)", odata.Limits{Rows: 100}, true},
		{"uneven under a limit of bytes", "Areas?$expand=sites($expand=meters)", odata.Limits{Bytes: 8000}, true},
		{"uneven under a smaller one", "Areas?$expand=sites($expand=meters)", odata.Limits{Rows: 60}, true},
		{"uneven with counts", "Areas?$expand=sites($count=true;$expand=meters($count=true))", odata.Limits{Rows: 60}, true},
		{"uneven, from the other end", "Areas?$orderby=id desc&$expand=sites($orderby=id desc;$expand=meters($orderby=id desc;$skip=2))", odata.Limits{Rows: 100}, true},
		{"uneven in small pages", "Areas?$expand=sites($expand=meters)", odata.Limits{Rows: 100, PageSize: 4}, true},
		{"with a condition", "Areas?$expand=sites($filter=id gt 3;$expand=meters($filter=id lt 200;$select=id))", odata.Limits{Rows: 60}, true},
		{"references", "Areas?$expand=sites($expand=meters/$ref)", odata.Limits{Rows: 60}, true},
		{"numbers", "Areas?$expand=sites($expand=meters/$count)", odata.Limits{Rows: 60}, true},
		{"back to one", "Areas?$expand=sites($expand=area,meters($expand=site))", odata.Limits{Rows: 120}, true},
		{"top above", "Areas?$top=5&$expand=sites($expand=meters)", odata.Limits{Rows: 60}, true},
		{"top between", "Areas?$expand=sites($top=3;$expand=meters)", odata.Limits{Rows: 60}, true},
		{"top below", "Areas?$expand=sites($expand=meters($top=4))", odata.Limits{Rows: 100}, true},
		{"many", "Categories?$expand=products($select=id)", odata.Limits{}, true},
		{"many behind others", "Categories?$orderby=id desc&$expand=products($select=id;$orderby=name desc;$skip=150)", odata.Limits{}, true},
		{"many with counts", "Categories?$expand=products($select=id;$filter=id gt 7;$count=true)", odata.Limits{}, true},
		{"many of one", "Products?$filter=id le 5&$orderby=id desc&$expand=category($expand=products($select=id;$expand=category))", odata.Limits{}, true},
		{"many of which top", "Products?$filter=id le 5&$orderby=id desc&$expand=category($expand=products($top=300;$select=id))", odata.Limits{Rows: 4000}, false},
		{"many below many", "Categories?$expand=products($filter=id le 60;$select=id;$expand=category($expand=products($skip=390)))", odata.Limits{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := bodyOf(t, all[0].under(t, c.limits), c.target)
			if strings.Contains(want, "nextLink") != c.ended {
				t.Errorf("links: %t in %s", !c.ended, want)
			}
			whole := parsed(t, bodyOf(t, all[0].under(t, odata.Limits{PageSize: 1000, MaxPageSize: 1000}), c.target))
			for _, s := range all {
				h := s.under(t, c.limits)
				got := bodyOf(t, h, c.target)
				if got != want {
					t.Errorf("%s: GET %s\ngives %s\nwant  %s", s.name, c.target, got, want)
				}
				if diff := cmp.Diff(followed(t, h, whole), followed(t, h, parsed(t, got))); diff != "" {
					t.Errorf("%s: GET %s and its links: %s", s.name, c.target, diff)
				}
			}
		})
	}
}

// cyclicExpand holds that an answer that could multiply to millions of rows has a page of rows for each row at the top,
// that it is the same on all engines, and that each collection in it goes on where its link says.
func cyclicExpand(t *testing.T, all []subject) {
	const (
		target = "Products?$top=200&$expand=category($expand=products($expand=category($expand=products)))"
		most   = 10_000 + 200*(100+1+1) + 100 // the last row of a page has rows below it
		size   = 12 << 20
	)
	var want string
	for _, s := range all {
		h := s.under(t, odata.Limits{})
		got := bodyOf(t, h, target)
		if want == "" {
			want = got
			if rows := strings.Count(got, `"id":`); rows > most || rows < most/2 || len(got) > size {
				t.Errorf("%d rows and %d bytes, want at most %d and %d", rows, len(got), most, size)
			}
			links := map[string]bool{}
			for _, row := range parsed(t, got)["value"].([]any) {
				inCategory(t, row.(map[string]any)["category"].(map[string]any), links)
			}
			if len(links) < 3 {
				t.Errorf("%d links: %.500s", len(links), got)
			}
		}
		if got != want {
			t.Errorf("%s gives another answer of %d bytes, want %d", s.name, len(got), len(want))
		}
		first := parsed(t, got)["value"].([]any)[199].(map[string]any)["category"].(map[string]any)
		rest := parsed(t, bodyOf(t, h, first["products@odata.nextLink"].(string)))["value"].([]any)
		shown := len(first["products"].([]any))
		if next := rest[0].(map[string]any)["id"]; shown == 0 || len(rest) != 200 || next != first["id"].(float64)+float64(shown*soldCategory) {
			t.Errorf("%s: %d rows, and %d behind the link, which begin with %v", s.name, shown, len(rest), next)
		}
	}
}

// inCategory checks the products of a category, and notes the links.
func inCategory(t *testing.T, category map[string]any, links map[string]bool) {
	t.Helper()
	id := int(category["id"].(float64))
	list, ok := category["products"].([]any)
	if !ok {
		return
	}
	for i, p := range list {
		product := p.(map[string]any)
		if got, want := int(product["id"].(float64)), id+i*soldCategory; got != want {
			t.Fatalf("category %d has the product %d at %d, want %d", id, got, i, want)
		}
		if below, ok := product["category"].(map[string]any); ok {
			inCategory(t, below, links)
		}
	}
	link, _ := category["products@odata.nextLink"].(string)
	if link == "" {
		if len(list) != inEachOfThree {
			t.Fatalf("category %d has %d products and no link", id, len(list))
		}
		return
	}
	links[link] = true
	if !strings.HasPrefix(link, fmt.Sprintf("http://h/Categories(%d)/products?", id)) || !strings.HasSuffix(link, fmt.Sprintf("$skip=%d", len(list))) {
		t.Fatalf("behind %d rows the link is %s", len(list), link)
	}
}

// nestedTop holds that a nested $top is kept whatever else the answer has, or refused before there is SQL.
func nestedTop(t *testing.T, all []subject) {
	const kept = "Categories?$expand=products($top=70;$select=id;$expand=category($expand=products($select=id;$expand=category($expand=products($select=id)))))"
	const refused = "Products?$top=3000&$expand=category($expand=products($top=3000))"
	want := bodyOf(t, all[0].under(t, odata.Limits{ExpandDepth: 5}), kept)
	for _, s := range all {
		h := s.under(t, odata.Limits{ExpandDepth: 5})
		got := bodyOf(t, h, kept)
		if got != want {
			t.Errorf("%s: another answer than in memory", s.name)
		}
		ended := false
		for _, row := range parsed(t, got)["value"].([]any) {
			category := row.(map[string]any)
			list := category["products"].([]any)
			if len(list) != 70 || category["products@odata.nextLink"] != nil {
				t.Errorf("%s: %d rows of $top=70", s.name, len(list))
			}
			ended = ended || slices.ContainsFunc(list, func(p any) bool {
				return p.(map[string]any)["category"].(map[string]any)["products@odata.nextLink"] != nil
			})
		}
		if !ended {
			t.Errorf("%s: no page below ended", s.name)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+refused, nil))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "leave the nested $top out") {
			t.Errorf("%s: GET %s gives %d %s", s.name, refused, w.Code, w.Body)
		}
	}
}

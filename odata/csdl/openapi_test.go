package csdl_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/csdl"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// at follows a path of members, separated by blanks, through a document.
func at(t *testing.T, doc any, path string) any {
	t.Helper()
	for _, name := range strings.Fields(path) {
		object, ok := doc.(map[string]any)
		if !ok {
			t.Errorf("%s leads through %v", path, doc)
			return nil
		}
		doc = object[name]
	}
	return doc
}

func everything(*edm.EntitySet) bool { return true }

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	text := openAPIOf(model(), "/odata/", options(), everything)
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	type object = map[string]any
	ref := func(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }
	for path, want := range map[string]any{
		"openapi": "3.1.0",
		"servers": []any{object{"url": "/odata"}},
		"paths /Products get responses 200 content application/json schema properties value":       object{"type": "array", "items": ref("schemas", "Shop.Product")},
		"paths /Products({ID}) parameters":                                                         []any{object{"name": "ID", "in": "path", "required": true, "description": "key: ID", "schema": object{"type": "integer", "format": "int32"}}},
		"paths /Products({ID})/Category get responses 200 content application/json schema":         ref("schemas", "Shop.Category"),
		"paths /Products({ID})/Category get tags":                                                  []any{"Products", "Categories"},
		"paths /Categories({ID})/Products/$count get responses 200 content text/plain schema type": "integer",
		"paths /Company get responses 200 content application/json schema":                         ref("schemas", "Shop.Category"),
		"components schemas Shop.Product properties CategoryID":                                    object{"type": []any{"integer", "null"}, "format": "int32", "minimum": -2147483648.0, "maximum": 2147483647.0, "title": "Category ID"},
		"components schemas Shop.Product properties Sum":                                           object{"type": []any{"number", "string", "null"}, "format": "decimal", "title": "Sum", "description": `1 < 2 & "so on"`},
		"components schemas Shop.Product properties Status":                                        object{"$ref": "#/components/schemas/Shop.Status", "title": "Status"},
		"components schemas Shop.Product properties Category":                                      object{"anyOf": []any{ref("schemas", "Shop.Category"), object{"type": "null"}}},
		"components schemas Shop.Product description":                                              "What is for sale",
		"components schemas Shop.Category properties Products":                                     object{"type": "array", "items": ref("schemas", "Shop.Product")},
		"components schemas Shop.Address properties City":                                          object{"type": []any{"string", "null"}, "maxLength": 40.0, "title": "City"},
		"components schemas Shop.Status examples":                                                  []any{"None", "New"},
		"components parameters Product-expand schema items enum":                                   []any{"*", "Category"},
		"components parameters Category-orderby schema items enum":                                 []any{"ID", "ID desc"},
		"components parameters Product-select explode":                                             false,
	} {
		if diff := cmp.Diff(want, at(t, doc, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	options := []any{
		ref("parameters", "top"), ref("parameters", "skip"), ref("parameters", "search"), ref("parameters", "filter"), ref("parameters", "count"), ref("parameters", "compute"),
		ref("parameters", "Product-orderby"), ref("parameters", "Product-select"), ref("parameters", "Product-expand"),
	}
	if diff := cmp.Diff(options, at(t, doc, "paths /Products get parameters")); diff != "" {
		t.Error(diff)
	}
	applies := csdl.Options{}
	applies.Transformations = []string{"aggregate"}
	m := model()
	m.Sets[1].NoApply = true
	var second any
	if err := json.Unmarshal(openAPIOf(m, "/odata/", applies, everything), &second); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"paths /Products get parameters": true, "paths /Categories get parameters": false} {
		list, _ := at(t, second, path).([]any)
		if got := slices.ContainsFunc(list, func(p any) bool { return cmp.Equal(p, any(ref("parameters", "apply"))) }); got != want {
			t.Errorf("%s: $apply %v", path, got)
		}
	}
	if at(t, second, "components parameters apply name") != "$apply" || at(t, doc, "components parameters apply") != nil {
		t.Error("the parameter $apply is there where it is of no use, or missing")
	}
	if !bytes.Equal(text, openAPIOf(model(), "/odata/", csdl.Options{ExpandDepth: 4}, everything)) {
		t.Error("two documents of one model differ")
	}
}

// What a caller may not see is in no path, schema, parameter or list of values.
func TestOpenAPIShowsWhatMayBeSeen(t *testing.T) {
	t.Parallel()
	m := model()
	text := string(openAPIOf(m, "/", options(), func(s *edm.EntitySet) bool { return s.Name != "Products" }))
	for _, secret := range []string{"Product", "Status", "Address", "SKU"} {
		if strings.Contains(text, secret) {
			t.Errorf("it tells of %s: %s", secret, text)
		}
	}
	if !strings.Contains(text, `"url":"/"`) {
		t.Error("a service at the root has no server")
	}
}

func TestOpenAPIKeys(t *testing.T) {
	t.Parallel()
	key := func(name string, k edm.Kind) *edm.Property { return &edm.Property{Name: name, Type: edm.Of(k)} }
	keys := []*edm.Property{key("no", edm.Int64), key("name", edm.String), key("länge", edm.Duration), key("raw", edm.Binary)}
	typ := &edm.EntityType{Name: "Größe", Key: keys, Properties: keys}
	m := &edm.Model{Namespace: "N", Container: "C", Types: []*edm.EntityType{typ}, Sets: []*edm.EntitySet{{Name: "Größen", Type: typ}}}
	var doc struct {
		Paths      map[string]any
		Components struct{ Schemas, Parameters map[string]any }
	}
	if err := json.Unmarshal(openAPIOf(m, "/", options(), everything), &doc); err != nil {
		t.Fatal(err)
	}
	if path := "/Gr%C3%B6%C3%9Fen(no={no},name='{name}',l%C3%A4nge=duration'{länge}',raw=binary'{raw}')"; doc.Paths[path] == nil {
		t.Errorf("no path %s in %v", path, doc.Paths)
	}
	if doc.Components.Schemas["N.Gr.F6.DFe"] == nil || doc.Components.Parameters["Gr.F6.DFe-select"] == nil {
		t.Errorf("components: %v", doc.Components)
	}
}

// TestOpenAPISecurity holds that operations tell how their callers come in, where a guard asks who they are: that of the service,
// of the set, or of the set that a navigation property leads to.
func TestOpenAPISecurity(t *testing.T) {
	t.Parallel()
	of := func(guard, products edm.Guard, s csdl.Security) any {
		m := model()
		m.Guard = guard
		for _, set := range m.Sets {
			set.Guard = edm.GuardNone
		}
		m.Singletons[0].Guard = edm.GuardNone
		m.Set("Products").Guard = products
		o := options()
		o.Security = s
		var doc any
		if err := json.Unmarshal(openAPIOf(m, "/odata/", o, everything), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	both := csdl.Security{Cookie: "__Host-session", Bearer: true}
	ways := []any{map[string]any{"session": []any{}}, map[string]any{"token": []any{}}}
	doc := of(edm.GuardNone, edm.GuardSession, both)
	for path, want := range map[string]any{
		"components securitySchemes session in":                "cookie",
		"components securitySchemes session name":              "__Host-session",
		"components securitySchemes token scheme":              "bearer",
		"paths /Products get security":                         ways,
		"paths /Products/$count get security":                  ways,
		"paths /Products({ID}) get security":                   ways,
		"paths /Categories({ID})/Products get security":        ways,
		"paths /Products({ID})/Category get security":          ways,
		"paths /Categories get security":                       []any{},
		"paths /$batch post security":                          []any{},
		"paths /Products get responses 401 $ref":               "#/components/responses/unauthenticated",
		"paths /Categories get responses 401":                  nil,
		"paths /Categories get responses 429 $ref":             "#/components/responses/busy",
		"paths /Categories get responses 503 $ref":             "#/components/responses/unavailable",
		"components responses busy headers Retry-After schema": map[string]any{"type": "integer", "minimum": 1.0},
		"components responses unavailable content":             map[string]any{"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/error"}}},
	} {
		if diff := cmp.Diff(want, at(t, doc, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if got := at(t, of(edm.GuardSettled, edm.GuardNone, both), "paths /$batch post security"); !cmp.Equal(got, any(ways)) {
		t.Errorf("behind the guard of the service $batch has %v", got)
	}
	untold := of(edm.GuardNone, edm.GuardSession, csdl.Security{})
	if at(t, untold, "paths /Products get security") != nil || at(t, untold, "components securitySchemes") != nil {
		t.Error("a service that does not tell how callers come in has ways")
	}
}

// TestOperationsHaveNames holds that every operation has a name of its own, which tells what it does.
func TestOperationsHaveNames(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openAPIOf(model(), "/odata/", options(), everything), &doc); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for path, item := range doc.Paths {
		for method, text := range item {
			var do struct{ OperationID string }
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(text, &do); err != nil {
				t.Fatal(err)
			}
			names[path] = do.OperationID
		}
	}
	if diff := cmp.Diff(map[string]string{
		"/Products": "list-Products", "/Products/$count": "count-Products", "/Products({ID})": "get-Products", "/Products({ID})/Category": "get-Products-Category",
		"/Categories": "list-Categories", "/Categories/$count": "count-Categories", "/Categories({ID})": "get-Categories",
		"/Categories({ID})/Products": "list-Categories-Products", "/Categories({ID})/Products/$count": "count-Categories-Products",
		"/Company": "get-Company", "/Company/Products": "list-Company-Products", "/Company/Products/$count": "count-Company-Products", "/$batch": "batch",
	}, names); diff != "" {
		t.Error(diff)
	}
}

func TestOpenAPIWriting(t *testing.T) {
	t.Parallel()
	var doc any
	if err := json.Unmarshal(openAPIOf(writable(), "/odata/", options(), everything), &doc); err != nil {
		t.Fatal(err)
	}
	ref := func(name string) any { return map[string]any{"$ref": "#/components/schemas/Shop." + name} }
	for path, want := range map[string]any{
		"info description": "An OData 4.0 service. Its model is also in $metadata.",
		"paths /Products post requestBody content application/json schema":        ref("Products-create"),
		"paths /Products post responses 201 content application/json schema":      ref("Product"),
		"paths /Products post operationId":                                        "create-Products",
		"paths /Products({ID}) patch requestBody content application/json schema": ref("Products-update"),
		"paths /Products({ID}) patch responses 204 description":                   "Success",
		"paths /Products({ID}) delete":                                            nil,
		"paths /Categories post":                                                  nil,
		"paths /Categories({ID}) patch":                                           nil,
		"components schemas Shop.Products-create properties ID":                   nil,
		"components schemas Shop.Products-create properties Version":              nil,
		"components schemas Shop.Products-create required":                        []any{"Status"},
		"components schemas Shop.Products-update properties CategoryID":           nil,
		"components schemas Shop.Products-update properties SKU type":             "string",
		"components schemas Shop.Products-update required":                        nil,
	} {
		if diff := cmp.Diff(want, at(t, doc, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	parameters, _ := at(t, doc, "paths /Products({ID}) patch parameters").([]any)
	if len(parameters) != 1 || parameters[0].(map[string]any)["name"] != "If-Match" {
		t.Errorf("the parameters of a change: %v", parameters)
	}
	if required := parameters[0].(map[string]any)["required"]; required != true || at(t, doc, "paths /Products({ID}) patch responses 201") != nil {
		t.Error("a change creates a product whose key the database gives")
	}
	if err := json.Unmarshal(openAPIOf(keyed(), "/odata/", options(), everything), &doc); err != nil {
		t.Fatal(err)
	}
	parameters, _ = at(t, doc, "paths /Products({ID}) patch parameters").([]any)
	created := at(t, doc, "paths /Products({ID}) patch responses 201 content application/json schema")
	if len(parameters) != 1 || parameters[0].(map[string]any)["required"] != false || cmp.Diff(ref("Product"), created) != "" {
		t.Errorf("an upsert has the parameters %v and creates %v", parameters, created)
	}
}

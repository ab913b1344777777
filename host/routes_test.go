package host_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/mux"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Every name and path under which the host answers is reserved, so that no route of
// an application can have it.
func TestEndpointsAreReserved(t *testing.T) {
	source, err := memory.New(memory.Config{Sets: []memory.Set{{Name: "Things", Rows: []struct{ ID int }{}}}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{
		Store: sqliteStore(t), UI: host.UIOptions{App: testApp()},
		OData: &host.ODataOptions{Model: source.Model(), Source: source},
	})
	if err != nil {
		t.Fatal(err)
	}
	router := mux.NewRouter()
	if err := h.Mount(router); err != nil {
		t.Fatal(err)
	}
	endpoints := 0
	err = router.Walk(func(r *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		endpoints++
		path, err := r.GetPathTemplate()
		if !reserved.RoutePath(path) {
			t.Errorf("the path %s is not reserved", path)
		}
		if name := r.GetName(); name != "" && !reserved.RouteName(name) {
			t.Errorf("the name %s is not reserved", name)
		}
		return err
	})
	if err != nil || endpoints < 10 {
		t.Errorf("%d endpoints, error %v", endpoints, err)
	}
}

// The names of all rows are reserved, also those that no router has but access log
// and metrics show.
func TestNamesOfTheHostAreReserved(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "routes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	keep := func(e ast.Expr) {
		if text, ok := e.(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(text.Value)
			names = append(names, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "own" {
				keep(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" {
				keep(n.Value)
			}
		}
		return true
	})
	for _, name := range names {
		if !reserved.RouteName(name) {
			t.Errorf("the name %s is not reserved", name)
		}
	}
	if !slices.Contains(names, "public") || !slices.Contains(names, "login") {
		t.Errorf("the names found are %q", names)
	}
}

// A role that the embedding program has itself cannot be a plugin's as well.
func TestRolesOfTheProgramCannotBeTaken(t *testing.T) {
	_, err := host.New(host.Options{
		Store: sqliteStore(t),
		Dispenser: pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Done(), nil
		}),
		OrgSetup: pluginsdk.OrgSetupFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Result, error) {
			return pluginsdk.Satisfied(), nil
		}),
		Plugins: []host.Plugin{{Name: "orgs", Command: []string{"/bin/true"}, Roles: []string{"dispenser", "org_setup"}}},
	})
	for _, want := range []string{`the role "dispenser" already belongs to Options.Dispenser`, `the role "org_setup" already belongs to Options.OrgSetup`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// An embedding program learns at once that a route of its own could not be reached.
func TestRoutesOfTheHostCannotBeTaken(t *testing.T) {
	db := sqliteStore(t)
	for name, tt := range map[string]struct {
		routes []host.Route
		want   string
	}{
		"name":         {[]host.Route{{Name: "login", Path: "/in", Redirect: "/x"}}, `host: the route "login": the name is the host's own: choose another`},
		"name below":   {[]host.Route{{Name: "auth.docs", Path: "/docs", Redirect: "/x"}}, `host: the route "auth.docs": the name is the host's own`},
		"path":         {[]host.Route{{Name: "mine", Path: "/healthz", Redirect: "/x"}}, `host: the route "mine": the host itself answers at /healthz: choose another path`},
		"path below":   {[]host.Route{{Name: "mine", Path: "/odata/x", Redirect: "/x"}}, `host: the route "mine": the host itself answers at /odata/x`},
		"name twice":   {[]host.Route{{Name: "a", Path: "/a", Redirect: "/x"}, {Name: "a", Path: "/b", Redirect: "/x"}}, `host: two routes are named "a"`},
		"all in order": {[]host.Route{{Name: "authors", Path: "/authors", Redirect: "/x"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := host.New(host.Options{Store: db, Routes: tt.routes})
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

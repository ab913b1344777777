package uitest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A spoken is a node of the tree that a screen reader reads.
type spoken struct{ role, name string }

// TestScreenReadersTree reads the tree of the sign-in and of the explorer's views: landmarks and one heading of the first level
// are there, and whatever can be used or heads a column has a name.
func TestScreenReadersTree(t *testing.T) {
	r := newViews(t)
	b := open(t)
	b.Visit(r.base + "/login?lang=en")
	b.Ready("#password")
	holdsTree(t, "sign-in", b.tree(), []spoken{{"main", ""}, {"textbox", "Email"}, {"button", "Continue"}})
	b.signIn(password)
	b.Wait(`!location.pathname.startsWith('/login')`)
	for name, wanted := range map[string][]spoken{
		"home":    {{"banner", ""}, {"main", ""}, {"navigation", ""}, {"link", "Products"}},
		"table":   {{"searchbox", "Search"}, {"columnheader", "Name"}, {"searchbox", "Filter by Price"}, {"combobox", "Filter by Name"}, {"rowheader", "Product 1"}, {"link", "Product 1"}},
		"filters": {{"list", "Filters"}, {"button", "Remove the filter Sold: Yes"}},
		"groups":  {{"columnheader", "Rows"}, {"rowheader", "Ash"}},
		"chart":   {{"figure", "Price (Sum)"}, {"columnheader", "Price (Sum)"}},
		"row":     {{"heading", "Product 5"}, {"term", "Price"}},
		"columns": {{"dialog", "Columns"}, {"checkbox", "Price"}},
		"export":  {{"dialog", "Export and API"}},
		"change":  {{"dialog", ""}, {"textbox", "Name"}},
	} {
		i := slices.IndexFunc(views(), func(v view) bool { return v.name == name })
		b.open(r, "en", 0, views()[i])
		holdsTree(t, name, b.tree(), wanted)
	}
}

// holdsTree fails the test for a node without a name, and for one that is not there.
func holdsTree(t *testing.T, view string, tree, wanted []spoken) {
	t.Helper()
	before := t.Failed()
	named := []string{"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "columnheader", "rowheader", "dialog", "heading", "image"}
	for _, n := range tree {
		if n.name == "" && slices.Contains(named, n.role) {
			t.Errorf("%s: a %s has no name", view, n.role)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(tree, func(n spoken) bool { return n.role == w.role && (w.name == "" || n.name == w.name) }) {
			t.Errorf("%s: there is no %s %q", view, w.role, w.name)
		}
	}
	if t.Failed() && !before || os.Getenv("SCREENS_DIR") != "" {
		writeTree(t, view, tree)
	}
}

func writeTree(t *testing.T, view string, tree []spoken) {
	t.Helper()
	var text strings.Builder
	for _, n := range tree {
		fmt.Fprintf(&text, "%s %q\n", n.role, n.name)
	}
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		t.Log(view, "\n", text.String())
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "tree-"+view+".txt"), []byte(text.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// tree returns the nodes that a screen reader reads, in their order.
func (b *tab) tree() (nodes []spoken) {
	b.T.Helper()
	for _, n := range browsertest.Call(b.Tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if role := said(n.Role); !n.Ignored && !slices.Contains([]string{"none", "generic", "StaticText", "InlineTextBox"}, role) {
			nodes = append(nodes, spoken{role, said(n.Name)})
		}
	}
	return nodes
}

func said(v *accessibility.Value) (text string) {
	if v == nil || json.Unmarshal(v.Value, &text) != nil {
		return ""
	}
	return text
}

package bind_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// library is a fixed model: open books by guarded authors, and loans that only their borrower sees.
func library() *edm.Model {
	prop := func(name string, k edm.Kind, nullable bool) *edm.Property {
		return &edm.Property{Name: name, Type: edm.Of(k), Nullable: nullable}
	}
	id, isbn := prop("Id", edm.Int64, false), prop("Isbn", edm.String, false)
	genre := &edm.EnumType{Name: "Genre", Flags: true, Members: []edm.EnumMember{{Name: "Crime", Value: 1}, {Name: "Poetry", Value: 2}}}
	size := &edm.ComplexType{Name: "Size", Properties: []*edm.Property{prop("Width", edm.Double, true), prop("Height", edm.Single, true)}}
	book := &edm.EntityType{
		Name: "Book", Key: []*edm.Property{id}, AlternateKeys: [][]*edm.Property{{isbn}},
		Properties: []*edm.Property{
			id, isbn, prop("Title", edm.String, false), prop("Price", edm.Decimal, true), prop("Printed", edm.DateTimeOffset, true),
			{Name: "Genre", Type: edm.Type{Kind: edm.Enum, Enum: genre}},
			{Name: "Size", Type: edm.Type{Kind: edm.Complex, Complex: size}},
		},
		Hidden: []*edm.Property{prop("Shelf", edm.Int64, false)},
	}
	author := &edm.EntityType{Name: "Author"}
	author.Key = []*edm.Property{prop("Country", edm.String, false), prop("No", edm.Int32, false)}
	author.Properties = append(author.Key[:2:2], prop("Name", edm.String, false))
	loan := &edm.EntityType{Name: "Loan"}
	loan.Key = []*edm.Property{prop("Id", edm.Guid, false)}
	loan.Properties = append(loan.Key[:1:1], prop("Due", edm.Date, false))
	loan.Hidden = []*edm.Property{prop("Borrower", edm.Int64, false)}

	books := &edm.EntitySet{Name: "Books", Type: book, Guard: edm.GuardNone, Searchable: true}
	authors := &edm.EntitySet{Name: "Authors", Type: author, Guard: edm.GuardSettled}
	loans := &edm.EntitySet{Name: "Loans", Type: loan, Guard: edm.GuardSession, Policy: "Borrower eq @user_id"}
	site := &edm.EntitySet{Name: "Site", Type: &edm.EntityType{Name: "Site", Properties: []*edm.Property{prop("Name", edm.String, true)}}, Guard: edm.GuardNone}
	book.Navigation = []*edm.Navigation{
		{Name: "Author", Target: authors, Nullable: true},
		{Name: "Loans", Target: loans, Collection: true},
		{Name: "Sequels", Target: books, Collection: true},
		{Name: "Prequel", Target: books, Nullable: true},
	}
	author.Navigation = []*edm.Navigation{{Name: "Books", Target: books, Collection: true}}
	loan.Navigation = []*edm.Navigation{{Name: "Book", Target: books}}
	m := &edm.Model{
		Namespace: "Lib", Container: "Container", Sets: []*edm.EntitySet{books, authors, loans},
		Types: []*edm.EntityType{book, author, loan, site.Type}, Complexes: []*edm.ComplexType{size}, Enums: []*edm.EnumType{genre},
	}
	m.Add(*site, true)
	return m
}

func newBinder(t testing.TB) *bind.Binder {
	t.Helper()
	m := library()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := bind.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reader is who may see everything.
func reader() plan.Caller {
	return plan.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(7)}}
}

func build(t testing.TB, target string, o bind.Options) (*plan.Plan, error) {
	t.Helper()
	req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	o.Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return newBinder(t).Plan(req, o)
}

func mustBuild(t testing.TB, target string) *plan.Plan {
	t.Helper()
	p, err := build(t, target, bind.Options{Caller: reader()})
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return p
}

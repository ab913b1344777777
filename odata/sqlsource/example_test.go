package sqlsource_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A source makes a model of the tables that a Config names. Foreign keys become navigation in both directions, and
// hidden columns do not exist.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "shop.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec(`
		CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
		CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price DECIMAL(10,2), cost DECIMAL(10,2),
			category_id INTEGER REFERENCES categories (id))`)
	if err != nil {
		log.Fatal(err)
	}
	_ = db.Close()

	source, err := sqlsource.New(context.Background(), sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{
		Guard:      edm.GuardNone,
		Discover:   []string{"categories"},
		EntitySets: []sqlsource.EntitySet{{Name: "Products", Table: "products", Hide: []string{"cost"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	for _, set := range source.Model().Sets {
		fmt.Println(set.Name)
		for _, p := range set.Type.Properties {
			fmt.Println(" ", p.Name, p.Type.QualifiedName("Vestibule"))
		}
		for _, n := range set.Type.Navigation {
			fmt.Println(" ", n.Name, "to", n.Target.Name)
		}
	}
	// Output:
	// Products
	//   id Edm.Int64
	//   name Edm.String
	//   price Edm.Decimal
	//   category_id Edm.Int64
	//   category to categories
	// categories
	//   id Edm.Int64
	//   name Edm.String
	//   Products to Products
}

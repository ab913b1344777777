// Odata-only serves a SQLite database as OData 4, without the host: package
// odata in a main of its own.
//
//	go run ./examples/odata-only              # a small library, made on the spot
//	go run ./examples/odata-only FILE.sqlite  # the tables of a database of yours
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

func main() {
	service, err := serve(context.Background(), os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	log.Print("http://127.0.0.1:8081/odata/")
	log.Fatal(http.ListenAndServe("127.0.0.1:8081", service))
}

// serve exposes the tables of the file that the arguments name to everybody.
//
// Config.Protected and Config.PassOver are nil here, so that names decide: "*" leaves
// out the tables vestibule_* of a host, tables with a column whose name holds
// "password", "secret" or "token", and tables whose own name holds "session". A
// program that knows its tables says so instead: Protected: func(table string) bool { return table == "accounts" }.
func serve(ctx context.Context, args []string) (http.Handler, error) {
	file, err := database(args)
	if err != nil {
		return nil, err
	}
	source, err := sqlsource.New(ctx, sqlsource.Database{Dialect: "sqlite", DSN: file},
		sqlsource.Config{Namespace: "Library", Guard: edm.GuardNone, Discover: []string{"*"}})
	if err != nil {
		return nil, err
	}
	return odata.New(source.Model(), source, odata.Options{Root: "/odata/"})
}

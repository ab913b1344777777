// Package sqlsource exposes a SQL database: it makes an edm.Model of the tables that a Config names, and opens the
// rows of plans over that model.
//
// New reads the catalogue of the database and checks the Config against it; every fault is a Finding with its path
// inside the Config. build.go makes model and mapping, with property.go and navigation.go. The other parts are packages:
// introspect reads the catalogue, sqltext writes statements with the SQL of package function, engine runs them, cursor
// makes the rows that package odata reads, and seekcache keeps what deep pages of SQLite are found by. transaction.go
// applies changes, and refusal.go says why a database has refused one.
//
// Tables that Config.Protected tells of can never be exposed. What is not here: who may see which row (package bind puts
// guards and policies into every plan), HTTP, and opening databases: handles are handed in, except that SQLite is read
// and written through connections of its own. Start reading at New.
package sqlsource

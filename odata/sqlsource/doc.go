// Package sqlsource exposes a SQL database: it makes an edm.Model of the tables that a Config names, and opens the
// rows of plans over that model.
//
// New reads the database's catalogue and checks the Config against it; every fault is a Finding with its path inside
// the Config. The parts, a package each: introspect reads the catalogue, sqltext writes statements with the SQL of
// package function, engine runs them, and cursor makes the rows that package odata consumes. Model and mapping are made here,
// in build.go and its neighbours.
//
// The tables of users and credentials, and all vestibule_* tables, can never be exposed. What is not here: who may see
// which row (package bind puts guards and policies into every plan), HTTP, and opening databases: handles are handed
// in, except that SQLite is read through connections of its own. Start reading at New.
package sqlsource

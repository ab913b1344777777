// Package sqlsource exposes a SQL database: it makes an edm.Model of the tables that a Config names, and opens the
// rows of plans over that model.
//
// New reads the database's catalogue and checks the Config against it; every fault is a Finding with its path inside
// the Config. The parts: introspect reads the catalogue, build.go and its neighbours make model and mapping of it,
// sqltext writes statements, engine runs them, rows.go and expand.go make the cursor that package odata consumes, and
// decode.go is the one place that knows what a cell means.
//
// The tables of users and credentials, and all vestibule_* tables, can never be exposed. What is not here: who may see
// which row (package plan puts guards and policies into every plan), HTTP, and opening databases: handles are handed
// in, except that SQLite is read through connections of its own.
package sqlsource

// Package seed makes the database of the demo: an application with users, and a
// shop for outdoor gear with 20,000 products, 100,000 orders and 2,000 reviews.
//
// The rows are the same at every run and on every machine, but for the salt of
// the demo account's password hash, so that tests and benchmarks may count on
// them. What is not here: the pages of the shop, in ../site and ../public, and
// the entity sets, in config.hcl at the root. Start reading at seed.go;
// schema.sql tells what there is.
package seed

// Command shop makes the database of the demo, an online shop, when the file is
// missing, and prints the account to sign in with.
//
//	go run ./examples/shop -db shop.db
//
// The pages of the shop are in site, the files that they load in public, and
// config.hcl at the root puts all of it together. The data is made by the
// package seed.
package main

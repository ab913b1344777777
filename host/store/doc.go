// Package store keeps everything that hosts share in one SQL database: people,
// sessions, counters, devices, reset tokens and the outbox.
//
// [DB] is that database on any engine. The statements are neutral SQL with "?"
// for parameters; where engines differ, [Dialect] has the variants. The tables
// named vestibule_* belong to Vestibule and come from the folder migrations.
// The stock tables users and password_reset_tokens belong to the host
// application: they are created where missing and never altered, and users is
// read as it is found, whatever its columns and the type of its key.
//
// Rules that hold everywhere: the caller's clock gives the time, in
// milliseconds as BIGINT; ids and hashes are bytes, because some engines compare
// text without regard to case; a condition and the write that depends on it are
// one statement, whose affected rows tell who won.
//
// What lives elsewhere: drivers, their settings and error codes (sqlite,
// postgres, mysql), the tests that every engine must pass (storetest), and the
// contracts (host/auth, host/session, host/outbox). Start reading at [DB], then
// tx.go.
package store

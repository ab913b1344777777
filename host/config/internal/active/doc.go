// Package active compiles auth.active, the condition that says who may sign in: a filter over the columns of users, with
// the compiler of row policies. It also knows by which columns applications usually deactivate people.
//
// What lives elsewhere: where the condition is asked, in host/store and host/auth; the compiler, in odata/bind; the
// evaluation of a row, in odata/memory. Start reading at [Compile].
package active

// Package identity holds what sign-in keeps of accounts elsewhere: who has which ([Store]), and the state that binds the
// answer of a provider to one browser and one purpose ([States]).
//
// What lives elsewhere: the flows are host/auth, the tables host/store, and everything that a provider says is parsed by a
// plugin. Start reading at identity.go.
package identity

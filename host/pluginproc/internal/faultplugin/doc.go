// Faultplugin is a plugin for tests that misbehaves on demand, in a way for each
// class of fault that a host must survive.
//
// The first argument names the fault of the start, "ok" for none; see starts.
// The fault of a call is named by the part of the user's address before the @,
// or by "call" in the config block; see calls. A sign-in at the identity provider names it
// by the address of the person who is expected, or by the parameter "way". A second argument is its
// version.
//
// What lives elsewhere: the tests are those of host/pluginproc, and of the
// command in host/cmd/vestibule.
package main

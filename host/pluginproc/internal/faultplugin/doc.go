// Faultplugin is a plugin for tests that misbehaves on demand, in a way for each
// class of fault that a host must survive.
//
// The first argument says how it starts, "ok" being the way of a good plugin;
// see starts. How a call goes is said by the part of the user's address before
// the @, or by "call" in the config block; see calls. A second argument is its
// version.
//
// What lives elsewhere: the tests are those of host/pluginproc, and of the
// command in host/cmd/vestibule.
package main

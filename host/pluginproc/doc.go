// Package pluginproc runs plugins as processes of their own: it verifies,
// starts, watches, replaces and stops them, and hands out what they decide as
// [pluginsdk.Dispenser] and [pluginsdk.OrgSetupHandler], so that the sign-in
// pipeline cannot tell a plugin from a built-in.
//
// Nothing that a plugin does may take the host down, hang it, or leave a
// process, socket or file behind. Each process runs in a process group of its
// own with a scrubbed environment and a private socket directory; its output is
// drained and bounded; every call, ping and stop has a deadline of ours.
//
// The package also narrows what a plugin is told to what its grants allow, and
// checks what it answers: an error wraps [pluginsdk.ErrUnavailable] when no
// decision was made, and [pluginsdk.ErrContract] when the answer is one that
// the contract forbids.
//
// Each role is a file, dispenser.go, orgsetup.go, listener.go and identity.go: how the host
// gets it, how often a call may be seen, and how its answers are checked.
//
// What lives elsewhere: the wire protocol is pluginsdk/proto; applying effects
// and checking redirect targets is host/auth; reading the plugin block of
// config.hcl is host/config; the checks of "vestibule plugin check" are
// pluginsdk/conformance. Start reading at [Manager].
package pluginproc

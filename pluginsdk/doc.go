// Package pluginsdk is all that the author of a Vestibule plugin imports.
//
// A plugin is a program of its own, in any language, that the host starts and
// talks to over gRPC. It has one role or several: a [Dispenser] decides which
// step a person must complete after the password was right, an
// [OrgSetupHandler] receives the organisation form, a [Listener] learns of events,
// and an [IdentityProvider] signs people in by an account elsewhere. Each role is
// one file, with its types, both ends of its calls, and its encoding.
//
// A plugin decides, and never acts: what it wants to change, it says as
// [Effect] values beside its answer, and the host validates and applies them
// in one transaction. A plugin that dies has changed nothing.
//
// The host uses the same interfaces for what runs inside its own process, so
// that the sign-in pipeline cannot tell a plugin from a built-in.
//
// What lives elsewhere: starting, watching and replacing plugin processes is
// host/pluginproc; the wire protocol is pluginsdk/proto; a kit for testing a
// plugin over a real connection is pluginsdk/plugintest. Start reading at
// [Dispenser].
package pluginsdk

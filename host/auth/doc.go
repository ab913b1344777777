// Package auth is the sign-in pipeline: login, logout, forgotten passwords,
// devices that stay signed in, and the intent loop that follows a login.
//
// Each flow is a file: login.go, logout.go, forgot.go, reset.go, device.go,
// intents.go. [Pipeline] holds what they share and exposes a handler for each
// route. What the pipeline needs from outside it declares itself, in
// contracts.go, and host/store and host/session provide it.
//
// What is not here: routing and guards (package host), the session cookie
// (host/session), SQL (host/store), plugin processes (host/pluginproc), and
// sending mail (host/mail). The pipeline cannot tell a plugin from the built-in
// dispenser. Start reading at login.go.
package auth

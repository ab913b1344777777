// Package ui carries the front-end app of the sign-in pages: sign in, forgot
// password, set new password, org setup, sign out.
//
// The Go side is one function, [FS], over the compiled app in dist, which is
// committed so that a Go toolchain alone builds the host. The host decides
// where it is served (the page at /login, the assets under /ui/auth/), fills
// the page with the data of GET /auth/bootstrap, and may serve a directory of
// the operator's own in its place; this package knows none of that.
//
// Beside it stands the library for UI5 applications, [UI5]: its modules are in
// ui5/src, and what they are built to in ui5/dist.
//
// The TypeScript sources are in src, the words in i18n, the tools that build,
// measure and compare in tools. Start reading at src/main.ts, then src/app.ts,
// then the screens. docs/frontend.md is the contract with the host. The browser
// tests of the screens are in ui/uitest; the flows through the real binary are
// tested beside the command.
package ui

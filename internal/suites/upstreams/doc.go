// Package upstreams puts real applications behind the proxy and looks at them with a
// real browser: one in PHP that checks passwords of the shared users table itself,
// Node-RED, whose editor holds a WebSocket, and Verdaccio, a registry for npm
// packages; and Express, PHP and a server that compares as IIS does behind two guards.
// It has tests alone.
//
// Start reading at upstreams_test.go. Where PHP or the npm packages are missing a
// test is skipped by name; REQUIRE_UPSTREAMS=1 makes that a failure.
package upstreams

// Package identity signs people in with plugins/oidc at real OpenID providers: npm's
// oidc-provider, which is certified, and the example provider of zitadel/oidc, which is not.
// Both are programs on loopback, and the plugin is a process. It has tests alone.
//
// Providers that misbehave are in the tests of plugins/oidc itself. Start reading at
// identity_test.go. Where the npm packages are missing a test is skipped by name;
// REQUIRE_IDENTITY=1 makes that a failure.
package identity

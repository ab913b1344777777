// Package dashboard holds the tests of an example: an OpenUI5 application that
// reads the shop's OData V4 service behind sign-in. The application itself is
// JavaScript and XML, in webapp; README.md says how to build and run it, and
// config.hcl is the host's configuration. The data is made by examples/shop.
//
// The browser test runs the real host with a real Chromium over the built
// application, and compares what is on the screen with the database. It is
// skipped by name where dist is missing (npm ci, npm run build), unless
// REQUIRE_UI5=1 makes that a failure. SCREENS_DIR names a folder for pictures.
package dashboard

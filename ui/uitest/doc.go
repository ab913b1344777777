// Package uitest looks at the front-end app through a browser: every screen
// and state, in light and dark, English and German, wide and 320 pixels
// narrow, with axe-core, with the keyboard alone, under the policy that the
// host sends. It holds tests only. A small server among them answers the wire
// contract; the flows through the real host are tested beside its command.
//
// Start reading at server_test.go, then screens_test.go. Without Chromium the
// tests are skipped by name; REQUIRE_BROWSER=1 makes that a failure, and
// SCREENS_DIR=dir keeps a picture of every screen.
package uitest

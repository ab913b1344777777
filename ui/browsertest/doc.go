// Package browsertest drives Chromium for the tests that look at a page as a
// person does: the front-end app, the flows through the real host, the OpenUI5
// dashboard. It knows none of them.
//
// Start reading at [Open]. The tabs of one test binary share one browser, which
// [Stop] ends; each has cookies of its own. Without Chromium a test is skipped by
// name; REQUIRE_BROWSER=1 makes that a failure. CHROMIUM names the program where
// it is not in PATH, and SCREENS_DIR a directory for pictures.
package browsertest

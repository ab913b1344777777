// Package plugintest tests plugins over a real connection: the plugin is served
// over gRPC as a host would see it, so that what cannot be sent fails in the test
// and not in production.
//
//	func TestAsksOnce(t *testing.T) {
//		p := plugintest.Serve(t, newPlugin(), plugintest.Config(`{"column": "partner_id"}`))
//		p.Dispense(pluginsdk.User{Name: "Ada"}).AsksForOrganisation("Ada")
//	}
//
// [Conformance] runs the checks of pluginsdk/conformance against a program in any
// language.
//
// What lives elsewhere: the checks themselves are pluginsdk/conformance. Start
// reading at [Serve].
package plugintest

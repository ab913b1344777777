package pluginsdk

import "context"

// A role is what the SDK, the conformance checks and calls by hand know of one role
// beyond its Go types. Each role has a file of its own, with its name, its types,
// both ends of its call and the cases that a plugin must bear, and a line in the
// table.
type role struct {
	// name is the role in config.hcl and in Describe; field is that of [Plugin].
	name, field string
	// path is the path of a request that a person makes up for a call by hand;
	// takesForm tells that such a call has a form.
	path      string
	takesForm bool
	// takesEvent tells that such a call has an event.
	takesEvent bool
	// takesIdentity reports whether such a call begins or finishes a sign-in at a provider.
	takesIdentity bool
	// takesChanges reports whether such a call has changes of data.
	takesChanges bool
	// has tells whether a plugin has the role.
	has func(Plugin) bool
	// run makes a call by hand and returns the answer for JSON.
	run func(context.Context, Plugin, Call) (any, error)
	// connect gives a plugin the role, with a running plugin behind it.
	connect func(*Plugin, *Client)
	// samples make of an ordinary call those that a host may make besides, by what is
	// special about each.
	samples func() map[string]func(*Call)
}

func roles() []role {
	return []role{dispenserRole(), orgSetupRole(), listenerRole(), identityRole(), validatorRole()}
}

// Roles returns the names of the roles that a plugin may have.
func Roles() []string {
	var names []string
	for _, r := range roles() {
		names = append(names, r.name)
	}
	return names
}

// onRequest makes edits of a call of edits of its request.
func onRequest(edits map[string]func(*Request)) map[string]func(*Call) {
	all := map[string]func(*Call){}
	for name, edit := range edits {
		all[name] = func(c *Call) { edit(c.Request) }
	}
	return all
}

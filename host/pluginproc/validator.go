package pluginproc

import (
	"context"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxValidations is how many processes may see one call of a validator. A call whose process
// dies is repeated once on a fresh one: a validator decides without acting.
const maxValidations = 2

// methodValidate is the call in logs and metrics.
const methodValidate = "validate"

// Validators returns the names of the plugins that have the role validator, in the order of
// the specs.
func (m *Manager) Validators() []string { return m.named(pluginsdk.RoleValidator) }

// Validate asks the plugin of a name about all changes of the request of an id, within the
// plugin's timeout. The verdict keeps to the contract: it names changes and properties that are
// there, and amends nothing of a delete. An error is logged with plugin, change and property.
func (m *Manager) Validate(ctx context.Context, plugin, requestID string, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
	s, err := m.slot(plugin)
	if err != nil {
		return pluginsdk.Verdict{}, err
	}
	if !slices.Contains(s.spec.Roles, pluginsdk.RoleValidator) {
		return pluginsdk.Verdict{}, unavailable("the plugin %q does not have the role %s", plugin, pluginsdk.RoleValidator)
	}
	asking := call[pluginsdk.Verdict]{slot: s, method: methodValidate, requestID: requestID, person: user.ID, limit: maxValidations}
	return asking.run(ctx, func(ctx context.Context, p *instance) (pluginsdk.Verdict, error) {
		return p.validate(ctx, requestID, user, changes)
	})
}

// validate asks the process. The changes are those of sets that name the plugin, and have no
// hidden columns; of the user it learns what user_read grants.
func (p *instance) validate(ctx context.Context, requestID string, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
	locale := mend(user.Locale)
	user, _ = p.tell(user, nil)
	user.Locale = locale
	return p.Client.ValidateFor(ctx, requestID, user, changes)
}

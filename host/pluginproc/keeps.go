package pluginproc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Keeps returns nil if a host that serves may replace the specs in use by next. It may
// not lose a dispenser, since sign-in would pass over the steps of that dispenser, nor the
// last handler beside a dispenser, since nobody would pass its org_setup, nor all plugins
// at once, since a file that was cut has none. [Manager.Reload] does not ask.
func (m *Manager) Keeps(next []Spec) error {
	m.mu.RLock()
	inUse := m.specs
	m.mu.RUnlock()
	named := map[string][]string{}
	for _, spec := range next {
		named[spec.Name] = spec.Roles
	}
	lost := 0
	var errs []error
	for _, spec := range inUse {
		roles, there := named[spec.Name]
		if !there {
			lost++
		}
		if !slices.Contains(spec.Roles, pluginsdk.RoleDispenser) || slices.Contains(roles, pluginsdk.RoleDispenser) {
			continue
		}
		what := fmt.Sprintf("plugin %q is in use as dispenser, and its block is gone", spec.Name)
		if there {
			what = fmt.Sprintf("plugin %q is in use as dispenser, and has lost that role", spec.Name)
		}
		errs = append(errs, finding.Finding{Path: []string{"plugin", spec.Name}, What: what, Remedy: "put it back, or restart the host to go on without it"})
	}
	if hasRole(inUse, pluginsdk.RoleDispenser) && hasRole(inUse, pluginsdk.RoleOrgSetup) && !hasRole(next, pluginsdk.RoleOrgSetup) {
		errs = append(errs, finding.Finding{
			Path: []string{"plugin"}, What: "a dispenser is in use, and the last plugin with the role org_setup is gone", Remedy: "put it back, or restart the host to go on without it",
		})
	}
	if errs == nil && lost > 0 && lost == len(inUse) {
		errs = append(errs, finding.Finding{
			Path: []string{"plugin"}, What: "the blocks of all plugins in use are gone", Remedy: "put them back, or restart the host to go on without them",
		})
	}
	return errors.Join(errs...)
}

// hasRole reports whether one of the specs has the role.
func hasRole(specs []Spec, role string) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool { return slices.Contains(s.Roles, role) })
}

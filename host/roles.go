package host

import (
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// roles tells who answers in a role: what the options name, or a plugin.
type roles struct {
	own      pluginsdk.Dispenser
	ownSetup pluginsdk.OrgSetupHandler
	plugins  *pluginproc.Manager
}

// ownRoles are the roles that the options give to the embedding program.
func (o Options) ownRoles() map[string]string {
	owned := map[string]string{}
	if o.Dispenser != nil {
		owned[pluginsdk.RoleDispenser] = "Options.Dispenser"
	}
	if o.OrgSetup != nil {
		owned[pluginsdk.RoleOrgSetup] = "Options.OrgSetup"
	}
	return owned
}

// dispensers returns the names of those that are asked, in their order. That of the
// embedding program has none.
func (r roles) dispensers() []string {
	if r.own != nil {
		return []string{""}
	}
	return r.plugins.Dispensers()
}

func (r roles) dispenser(name string) pluginsdk.Dispenser {
	if r.own != nil {
		return r.own
	}
	return r.plugins.Dispenser(name)
}

// offered returns the title of the step that people may ask a plugin for. A dispenser of the
// embedding program has no name by which anybody could.
func (r roles) offered(name string) (title string, ok bool) {
	if r.own != nil {
		return "", false
	}
	return r.plugins.OfferedStep(name)
}

// addIdentities hands the identities over to the sign-in.
func (r roles) addIdentities(o *auth.Options, list []Identity, plugins []Plugin) error {
	providers := map[string]func() pluginsdk.IdentityProvider{}
	for _, i := range list {
		if err := o.AddIdentity(i.Name, i.Label, i.Link, i.Create); err != nil {
			return fmt.Errorf("host: %w", err)
		}
		plugin := slices.IndexFunc(plugins, func(p Plugin) bool { return p.Name == i.Plugin })
		switch {
		case i.Provider != nil:
			providers[i.Name] = func() pluginsdk.IdentityProvider { return i.Provider }
		case plugin < 0 || !slices.Contains(plugins[plugin].Roles, pluginsdk.RoleIdentityProvider):
			return fmt.Errorf("host: the identity %q: there is no plugin %q with the role %s", i.Name, i.Plugin, pluginsdk.RoleIdentityProvider)
		default:
			providers[i.Name] = func() pluginsdk.IdentityProvider { return r.plugins.IdentityProvider(i.Plugin) }
		}
	}
	o.Provider = func(name string) pluginsdk.IdentityProvider { return providers[name]() }
	return nil
}

func (r roles) orgSetup() pluginsdk.OrgSetupHandler {
	if r.ownSetup != nil {
		return r.ownSetup
	}
	return r.plugins.OrgSetup()
}

package host

import (
	"errors"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// roles tells who answers in a role: what the options name, or a plugin.
type roles struct {
	own      pluginsdk.Dispenser
	ownSetup pluginsdk.OrgSetupHandler
	plugins  *pluginproc.Manager
}

// check returns an error when a role has two.
func (r roles) check() error {
	if r.own != nil && r.plugins.Dispenser() != nil {
		return errors.New("host: a plugin has the role dispenser, and Options.Dispenser is set too: remove one")
	}
	if r.ownSetup != nil && r.plugins.OrgSetup() != nil {
		return errors.New("host: a plugin has the role org_setup, and Options.OrgSetup is set too: remove one")
	}
	return nil
}

func (r roles) dispenser() pluginsdk.Dispenser {
	if r.own != nil {
		return r.own
	}
	return r.plugins.Dispenser()
}

func (r roles) orgSetup() pluginsdk.OrgSetupHandler {
	if r.ownSetup != nil {
		return r.ownSetup
	}
	return r.plugins.OrgSetup()
}

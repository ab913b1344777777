package pluginsdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
)

// A Plugin is what an author hands to [Serve]. Name and the field of one role,
// such as Dispenser, are required.
type Plugin struct {
	// Name says what the plugin is, such as "orgsetup".
	Name string
	// Version is the plugin's own version.
	Version string
	// Description is one sentence for operators.
	Description string
	// Title is the name of the step for people, such as "Authenticator app".
	Title string
	// OffersStep lets people who are signed in ask for the step from their account, where it
	// is listed by Title. The Dispenser is called with [Request.Asked] then.
	OffersStep bool
	// Dispenser, when not nil, gives the plugin the role "dispenser".
	Dispenser Dispenser
	// OrgSetup, when not nil, gives the plugin the role "org_setup".
	OrgSetup OrgSetupHandler
	// Listener, when not nil, gives the plugin the role "listener".
	Listener Listener
	// IdentityProvider, when not nil, gives the plugin the role "identity_provider".
	IdentityProvider IdentityProvider
	// Validator, when not nil, gives the plugin the role "validator".
	Validator Validator
	// Config points to a struct that is filled from the config block before
	// Configure is called and before any call of a role. [Setup.Decode] tells
	// the tags that its fields carry. With a nil Config the block must be empty.
	Config any
	// Configure, when not nil, is called once, after Config was filled, and may
	// open what the plugin needs. Errors made by [BadConfig] are reported at
	// their place in config.hcl; any other error keeps the plugin from starting
	// too.
	Configure func(ctx context.Context, setup Setup) error
}

// A Setup is what config.hcl says about a plugin.
type Setup struct {
	// Name is the label of the plugin's block.
	Name string
	// Roles are those that the block gives, a subset of the plugin's.
	Roles []string
	// UserRead, UserWrite and Headers are the grants. "*" grants all columns; a
	// host never sends it, plugintest and calls by hand do.
	UserRead, UserWrite, Headers []string
	// Mails are the mails that the plugin may send. "*" grants all.
	Mails []string
	// PublicURL is the origin that people see, such as "https://app.example.com", without
	// a slash at the end. It is empty where the host has none, on a developer's machine.
	PublicURL string
	// Config is the config block as a JSON object; nil means none.
	Config json.RawMessage
}

// CanRead tells whether the plugin may see a column of the user.
func (s Setup) CanRead(column string) bool { return granted(s.UserRead, column) }

// CanWrite tells whether the plugin may change a column of the user.
func (s Setup) CanWrite(column string) bool { return granted(s.UserWrite, column) }

// CanMail reports whether the plugin may send a mail.
func (s Setup) CanMail(name string) bool { return granted(s.Mails, name) }

func granted(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, "*")
}

// A Description is what a plugin says of itself.
type Description struct {
	Name        string            `json:"name"`
	Version     string            `json:"version,omitempty"`
	Description string            `json:"description,omitempty"`
	Title       string            `json:"title,omitempty"`
	OffersStep  bool              `json:"offers_step,omitempty"`
	Roles       []string          `json:"roles"`
	SDK         string            `json:"sdk,omitempty"`
	Config      []configblock.Key `json:"config,omitempty"`
}

// Describe returns the description that the host gets. The error names a mistake of the plugin's author.
func (p Plugin) Describe() (Description, error) {
	d := Description{
		Name:        p.Name,
		Version:     p.Version,
		Description: p.Description,
		Title:       p.Title,
		OffersStep:  p.OffersStep,
		SDK:         "go/" + Version,
	}
	if p.Name == "" {
		return d, errors.New("the plugin has no Name")
	}
	var fields []string
	for _, r := range roles() {
		fields = append(fields, r.field)
		if r.has(p) {
			d.Roles = append(d.Roles, r.name)
		}
	}
	if len(d.Roles) == 0 {
		return d, fmt.Errorf("the plugin %q has no role: set %s", p.Name, strings.Join(fields, " or "))
	}
	if p.OffersStep && (p.Dispenser == nil || p.Title == "") {
		return d, fmt.Errorf("the plugin %q offers a step: set Dispenser, which is asked, and Title, by which people find it", p.Name)
	}
	keys, err := configblock.KeysOf(p.Config)
	if err != nil {
		return d, fmt.Errorf("the Config of plugin %q: %w", p.Name, err)
	}
	d.Config = keys
	return d, nil
}

// configure fills Config and runs the author's Configure.
func (p Plugin) configure(ctx context.Context, setup Setup) error {
	if p.Config == nil {
		if err := setup.Decode(&struct{}{}); err != nil {
			return err
		}
	} else if err := setup.Decode(p.Config); err != nil {
		return err
	}
	if p.Configure == nil {
		return nil
	}
	return p.Configure(ctx, setup)
}

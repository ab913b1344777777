package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() { pluginsdk.Serve(newPlugin()) }

func newPlugin() pluginsdk.Plugin {
	s := &setup{}
	return pluginsdk.Plugin{
		Name:        "orgsetup",
		Version:     pluginsdk.Version,
		Description: "Asks for the organisation until the user's partner_id is set.",
		Title:       "Organisation",
		Dispenser:   s,
		OrgSetup:    s,
		Config:      &s.config,
		Configure:   s.configure,
	}
}

// A config is the plugin's config block.
type config struct {
	Column       string        `config:"column" default:"partner_id" doc:"The user column that holds the organisation's number."`
	Directory    string        `config:"directory" doc:"A JSON file of an object with the number of each organisation by name."`
	DirectoryURL string        `config:"directory_url" doc:"An address that answers POST {name, legal_form, size, billing_email} with {partner_id}, or 404."`
	Timeout      time.Duration `config:"timeout" default:"2s" doc:"How long directory_url may take."`
	Reserved     []string      `config:"reserved" doc:"Names that nobody may register, in any case."`
	Billing      []string      `config:"billing_required" default:"[\"mid_market\", \"enterprise\"]" doc:"Company sizes that must name an address for invoices."`
}

// Validate refuses what contradicts itself.
func (c config) Validate() error {
	var errs []error
	if c.Directory != "" && c.DirectoryURL != "" {
		errs = append(errs, pluginsdk.BadConfig("directory_url", "there is a directory too: keep one of them"))
	}
	if u := c.DirectoryURL; u != "" && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
		errs = append(errs, pluginsdk.BadConfig("directory_url", "%q is no http or https address", u))
	}
	if c.Timeout <= 0 {
		errs = append(errs, pluginsdk.BadConfig("timeout", "it must be longer than nothing"))
	}
	for i, size := range c.Billing {
		switch size {
		case "solo", "small", "growing", "mid_market", "enterprise":
		default:
			errs = append(errs, pluginsdk.BadConfig(fmt.Sprintf("billing_required[%d]", i),
				"%q is none of: solo, small, growing, mid_market, enterprise", size))
		}
	}
	return errors.Join(errs...)
}

// A setup plays both roles.
type setup struct {
	config    config
	directory directory
}

// configure refuses a block whose grants would let nobody through.
func (s *setup) configure(_ context.Context, in pluginsdk.Setup) error {
	var errs []error
	if slices.Contains(in.Roles, pluginsdk.RoleDispenser) && !in.CanRead(s.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "nobody would get past the step without sight of %q: add it to user_read", s.config.Column))
	}
	if slices.Contains(in.Roles, pluginsdk.RoleOrgSetup) && !in.CanWrite(s.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "no organisation could be saved in %q: add it to user_write", s.config.Column))
	}
	var err error
	s.directory, err = openDirectory(s.config)
	return errors.Join(append(errs, err)...)
}

// Dispense asks for the organisation as long as the user has none.
func (s *setup) Dispense(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
	if !user.Columns.Has(s.config.Column) {
		return pluginsdk.OrgSetup(user.Name), nil
	}
	return pluginsdk.Done(), nil
}

// Handle looks the organisation up and keeps its number.
func (s *setup) Handle(ctx context.Context, _ pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	var form pluginsdk.OrgForm
	if err := req.Bind(&form); err != nil {
		return pluginsdk.Result{}, err
	}
	say := textsFor(req.Locale)
	switch {
	case !strings.ContainsFunc(form.OrgName, telling):
		return pluginsdk.Failed(say.noName), nil
	case contains(s.config.Reserved, form.OrgName):
		return pluginsdk.Failed(say.reserved), nil
	case form.BillingEmail == "" && contains(s.config.Billing, form.CompanySize):
		return missing("billing_email", say.billing), nil
	}
	id, err := s.directory.register(ctx, form, req.IntentID)
	if errors.Is(err, errUnknown) {
		return pluginsdk.Failed(say.unknown), nil
	}
	if err != nil {
		return pluginsdk.Result{}, fmt.Errorf("ask the directory: %w", err)
	}
	pluginsdk.Logger(ctx).Info("organisation set", "partner_id", id)
	return pluginsdk.Satisfied().With(pluginsdk.SetUser(s.config.Column, id)), nil
}

func missing(field, message string) pluginsdk.Result {
	return pluginsdk.NeedsMoreInput(map[string]any{
		"fields":  map[string]any{field: []string{"required"}},
		"message": message,
	})
}

func contains(list []string, s string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return fold(one) == fold(s) })
}

// telling reports whether a name needs no more than this: there are companies called 1&1.
func telling(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

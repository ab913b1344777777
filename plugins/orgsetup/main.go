// Orgsetup asks for a person's organisation once: it dispenses the step
// org_setup until the user's column partner_id is set, judges the form, and sets
// the column.
//
// In config.hcl:
//
//	plugin "orgs" {
//	  command    = ["bin/orgsetup"]
//	  roles      = ["dispenser", "org_setup"]
//	  user_read  = ["partner_id"]
//	  user_write = ["partner_id"]
//	  config {
//	    directory_url = "https://crm.example.com/organisations" # asked for the number; made from the name otherwise
//	    reserved      = ["Example Inc."]                        # names that nobody may register
//	  }
//	}
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// column is what the step tests and what its completion changes.
const column = "partner_id"

func main() {
	o := &orgs{client: &http.Client{Timeout: 2 * time.Second}}
	pluginsdk.Serve(pluginsdk.Plugin{
		Name:        "orgsetup",
		Version:     "2.0.0",
		Description: "Asks for the organisation until users.partner_id is set.",
		Dispenser:   o,
		OrgSetup:    o,
		Config:      &o.config,
		Configure:   o.configure,
	})
}

// orgs plays both roles.
type orgs struct {
	config config
	client *http.Client
}

type config struct {
	DirectoryURL string   `config:"directory_url" doc:"Where an organisation's number is asked for, by POST; made from the name when absent."`
	Reserved     []string `config:"reserved" doc:"Names that nobody may register, in any case."`
}

// configure refuses grants with which the loop could not end.
func (o *orgs) configure(_ context.Context, setup pluginsdk.Setup) error {
	if !setup.CanRead(column) || !setup.CanWrite(column) {
		return errors.New("the plugin needs user_read and user_write of partner_id: without them the step could never end")
	}
	if o.config.DirectoryURL == "" {
		return nil
	}
	u, err := url.Parse(o.config.DirectoryURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return pluginsdk.BadConfig("directory_url", "%q is no http URL: write it like https://crm.example.com/organisations", o.config.DirectoryURL)
	}
	return nil
}

// Dispense asks for the organisation until there is one.
func (o *orgs) Dispense(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
	if user.Column(column) == nil {
		return pluginsdk.OrgSetup(user.Name), nil
	}
	return pluginsdk.Done(), nil
}

// Handle judges the form and sets the organisation's number.
func (o *orgs) Handle(ctx context.Context, _ pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	var form pluginsdk.OrgForm
	if err := req.Bind(&form); err != nil {
		return pluginsdk.Result{}, err
	}
	if result, ok := o.judge(form, wordsIn(req.Locale)); !ok {
		return result, nil
	}
	number := numberOf(form)
	if o.config.DirectoryURL != "" {
		var err error
		if number, err = o.register(ctx, form, req.IntentID); err != nil {
			return pluginsdk.Result{}, fmt.Errorf("ask the directory: %w", err)
		}
	}
	return pluginsdk.Satisfied().With(pluginsdk.SetUser(column, number)), nil
}

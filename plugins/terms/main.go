package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() { pluginsdk.Serve(newPlugin()) }

func newPlugin() pluginsdk.Plugin {
	t := &terms{}
	return pluginsdk.Plugin{
		Name:        "terms",
		Version:     pluginsdk.Version,
		Description: "Asks for the acceptance of the terms, once for each version.",
		Title:       "Terms of use",
		Dispenser:   t,
		Config:      &t.config,
		Configure:   t.configure,
	}
}

// A config is the plugin's config block.
type config struct {
	Version  string   `config:"version,required" doc:"The version of the terms in force, such as 2026-11. Another one asks everybody again."`
	Page     string   `config:"page,required" doc:"The application's page with the terms, such as /accept-terms."`
	Column   string   `config:"column" default:"terms_version" doc:"The user column that holds the version that was accepted."`
	Prefixes []string `config:"prefixes" doc:"Paths beside the page that it needs, such as /terms."`
}

// Validate refuses a page that is no path.
func (c config) Validate() error {
	var errs []error
	if c.Version == "" {
		errs = append(errs, pluginsdk.BadConfig("version", "it must not be empty: a date is a good version"))
	}
	if !strings.HasPrefix(c.Page, "/") {
		errs = append(errs, pluginsdk.BadConfig("page", "it must be a path of the application, such as /accept-terms"))
	}
	return errors.Join(errs...)
}

// terms is the dispenser.
type terms struct{ config config }

// configure refuses a block whose grants would let nobody through.
func (t *terms) configure(_ context.Context, in pluginsdk.Setup) error {
	var errs []error
	if !in.CanRead(t.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "nobody would get past the step without sight of %q: add it to user_read", t.config.Column))
	}
	if !in.CanWrite(t.config.Column) {
		errs = append(errs, pluginsdk.BadConfig("column", "no acceptance could be kept in %q: add it to user_write", t.config.Column))
	}
	return errors.Join(errs...)
}

// Dispense lets those pass who have accepted the current version, and holds all others
// at the page.
func (t *terms) Dispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	if has, _ := user.Columns.Text(t.config.Column); has == t.config.Version {
		return pluginsdk.Done(), nil
	}
	if accepts, _ := req.Form.Text("accept"); accepts == t.config.Version {
		return pluginsdk.Done().With(pluginsdk.SetUser(t.config.Column, t.config.Version)), nil
	}
	held := pluginsdk.Redirect(t.config.Page).Hold(t.config.Prefixes...)
	if req.Held != "" && req.Method == http.MethodPost { // the page asks what there is to accept
		held = held.NeedsMoreInput(map[string]any{"version": t.config.Version})
	}
	return held, nil
}

package config

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// userColumns are the columns of users: those of db, or those that the stock table
// will have where there is none yet.
func userColumns(ctx context.Context, db *store.DB) ([]store.Column, error) {
	columns, err := db.UserColumns(ctx)
	if err == nil && len(columns) == 0 {
		err = withScratch(ctx, func(scratch *store.DB) error {
			columns, err = scratch.UserColumns(ctx)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the columns of users: %w", err)
	}
	return columns, nil
}

func columnNames(columns []store.Column) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	return names
}

// A columnResolver turns the columns of users that settings name into the real
// ones, which databases compare without regard to case.
type columnResolver struct {
	config *Config
	names  []string
	found  Findings
}

// resolve returns the real name of the column that the setting at path names, and
// reports one that is not there. what is how the message calls the setting.
func (r *columnResolver) resolve(written, what string, path ...string) string {
	name, ok := reserved.Resolve(written, r.names)
	if ok {
		return name
	}
	at, alike := r.config.at(path...), r.alike(written)
	if len(alike) > 1 {
		r.found.Add(at, fmt.Sprintf("%s: the table users has no column %q, and more than one that differs by case", what, written), "write one of "+strings.Join(alike, ", "))
		return written
	}
	known := slices.DeleteFunc(slices.Clone(r.names), reserved.Credential)
	r.found.Add(at, fmt.Sprintf("%s: the table users has no column %q", what, written), schema.DidYouMean(written, known))
	return written
}

func (r *columnResolver) alike(written string) []string {
	return slices.DeleteFunc(slices.Clone(r.names), func(name string) bool { return reserved.Fold(name) != reserved.Fold(written) })
}

// resolveColumns gives the columns of users in opts their real names, and finds
// those that are not there.
func (c *Config) resolveColumns(ctx context.Context, db *store.DB, opts *host.Options) (*columnResolver, error) {
	columns, err := userColumns(ctx, db)
	if err != nil {
		return nil, err
	}
	names := columnNames(columns)
	r := &columnResolver{config: c, names: names}
	for _, name := range []string{"id", "email", reserved.PasswordColumn} {
		if slices.Contains(names, name) {
			continue
		}
		remedy := "add the column, or name another database"
		if alike := r.alike(name); len(alike) > 0 {
			remedy = fmt.Sprintf("rename %s to %s, as this database tells them apart", strings.Join(alike, ", "), name)
		}
		r.found.Add(c.at("database", "dsn"), fmt.Sprintf("the table users has no column %q, which sign-in needs", name), remedy)
	}
	if !c.faulty("auth", "login_field") {
		opts.Auth.LoginField = r.resolve(c.Auth.LoginField, "auth.login_field", "auth", "login_field")
	}
	opts.Auth.Active = c.active(columns, &r.found)
	r.checkCreation(columns)
	r.checkVerified()
	for i := range opts.Plugins {
		p := &opts.Plugins[i]
		p.UserRead = r.grants(p.UserRead, p.Name, "user_read")
		p.UserWrite = r.grants(p.UserWrite, p.Name, "user_write")
	}
	for _, route := range opts.Routes {
		for header, column := range route.Headers {
			route.Headers[header] = r.identity(column, route.Name, header)
		}
	}
	return r, nil
}

// identity returns the real name of the column that a header for an application
// holds. id, name and email are always there, empty where the table lacks them.
func (r *columnResolver) identity(written, route, header string) string {
	if slices.Contains([]string{"id", "name", "email"}, written) {
		return written
	}
	return r.resolve(written, "route."+route+".headers."+header, "route", route, "headers", header)
}

func (r *columnResolver) grants(written []string, plugin, key string) []string {
	if r.config.faulty("plugin", plugin, key) {
		return written
	}
	var names []string
	for i, one := range written {
		names = append(names, r.resolve(one, "plugin."+plugin+"."+key, "plugin", plugin, key, fmt.Sprint(i)))
	}
	return names
}

// policies checks the columns of the user that row policies name.
func (r *columnResolver) policies(e endpoint) error {
	columns, err := e.source.PolicyColumns()
	if err != nil {
		return fmt.Errorf("read the row policies: %w", err)
	}
	for _, p := range columns {
		path := append([]string{"odata"}, p.Path...)
		if reserved.Credential(p.Column) {
			r.found.Add(r.config.at(path...), fmt.Sprintf("%s: @user_%s is a credential", strings.Join(path, "."), p.Column), "compare with another column: no policy may use it")
			continue
		}
		r.resolve(p.Column, strings.Join(path, "."), path...)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() { pluginsdk.Serve(newPlugin()) }

func newPlugin() pluginsdk.Plugin {
	l := &landing{}
	return pluginsdk.Plugin{
		Name:        "landing",
		Version:     pluginsdk.Version,
		Description: "Chooses where people land after signing in, by rules over their columns.",
		Dispenser:   l,
		Config:      &l.config,
		Configure:   l.configure,
	}
}

// A config is the plugin's config block.
type config struct {
	Rules     []rule `config:"rules" doc:"Tried in order; the first that fits decides."`
	Otherwise string `config:"otherwise" doc:"Where everybody else goes; the dashboard when absent."`
	Intended  string `config:"intended" default:"first" oneof:"first last never" doc:"When a page that was asked for before signing in decides: before the rules, after them, or not at all."`
}

// A rule sends those for whom all conditions hold to a target.
type rule struct {
	When   conditions `config:"when,required" doc:"Conditions by column."`
	Target string     `config:"target,required" doc:"A path, a URL, or route:NAME; {column} stands for a value."`
}

type landing struct {
	config config
}

// configure refuses rules over columns that the plugin would never see: they
// would not fail, but quietly never fit.
func (l *landing) configure(_ context.Context, setup pluginsdk.Setup) error {
	var errs []error
	visible := func(path, column string) {
		if !setup.CanRead(column) && !slices.Contains(always(), column) {
			errs = append(errs, pluginsdk.BadConfig(path, "the column %q is not granted: add it to user_read", column))
		}
	}
	for i, r := range l.config.Rules {
		for _, column := range r.When.columns() {
			visible(fmt.Sprintf("rules[%d].when.%s", i, column), column)
		}
		for _, column := range placeholders(r.Target) {
			visible(fmt.Sprintf("rules[%d].target", i), column)
		}
	}
	for _, column := range placeholders(l.config.Otherwise) {
		visible("otherwise", column)
	}
	return errors.Join(errs...)
}

// always are the fields of a user that need no grant.
func always() []string { return []string{"id", "name", "email"} }

// Validate refuses targets that could never be followed.
func (c config) Validate() error {
	var errs []error
	check := func(path, target string) {
		rooted := strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//")
		named := strings.HasPrefix(target, "route:") && target != "route:"
		foreign := strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://")
		if target != "" && !rooted && !named && !foreign {
			errs = append(errs, pluginsdk.BadConfig(path, "%q is no path, URL or route:NAME", target))
		}
	}
	for i, r := range c.Rules {
		check(fmt.Sprintf("rules[%d].target", i), r.Target)
	}
	check("otherwise", c.Otherwise)
	return errors.Join(errs...)
}

// Dispense chooses the target.
func (l *landing) Dispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	asked := req.Intended != "" && l.config.Intended != "never"
	if asked && l.config.Intended == "first" {
		return pluginsdk.Done(), nil
	}
	for _, r := range l.config.Rules {
		if r.When.hold(user) {
			return to(r.Target, user, req)
		}
	}
	if asked || l.config.Otherwise == "" && req.Intended == "" {
		return pluginsdk.Done(), nil
	}
	target := l.config.Otherwise
	if target == "" {
		target = "route:dashboard"
	}
	return to(target, user, req)
}

// to redirects to a target, and forgets the page that was asked for.
func to(target string, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	if name, named := strings.CutPrefix(target, "route:"); named {
		path, ok := req.Routes[name]
		if !ok {
			return pluginsdk.Intent{}, fmt.Errorf("there is no route %q: add it to config.hcl, or correct the rule", name)
		}
		target = path
	}
	target = placeholder().ReplaceAllStringFunc(target, func(s string) string {
		return url.PathEscape(text(valueOf(user, s[1:len(s)-1])))
	})
	return pluginsdk.Redirect(target).With(pluginsdk.ConsumeIntended()), nil
}

func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`) }

// placeholders are the columns that a target names.
func placeholders(target string) []string {
	var names []string
	for _, s := range placeholder().FindAllString(target, -1) {
		names = append(names, s[1:len(s)-1])
	}
	return names
}

func valueOf(user pluginsdk.User, column string) pluginsdk.Value {
	switch column {
	case "id":
		return user.ID
	case "name":
		return user.Name
	case "email":
		return user.Email
	}
	return user.Columns.All()[column]
}

func text(v pluginsdk.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

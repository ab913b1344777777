package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A validation asks the plugins that sets name as their validators.
type validation struct {
	plugins *pluginproc.Manager
	// of maps the name of a set to that of its plugin, turns the name of a plugin to the queue of its callers.
	of    map[string]string
	turns map[string]*web.Queue
}

func newValidation(plugins *pluginproc.Manager, of map[string]string, limits *web.Limits) validation {
	v := validation{plugins, of, map[string]*web.Queue{}}
	for _, plugin := range of {
		v.turns[plugin] = limits.Validator()
	}
	return v
}

// validators maps the names of sets to those of the plugins that judge their changes. It is empty if the embedding program
// judges them itself.
func (o Options) validators() map[string]string {
	of := map[string]string{}
	if o.OData == nil || o.OData.Options.Validate != nil {
		return of
	}
	for _, set := range o.OData.Model.All() {
		if set.Write != nil && set.Write.Validator != "" {
			of[set.Name] = set.Write.Validator
		}
	}
	return of
}

// lackValidators returns an error for each set whose validator is none of the plugins.
func lackValidators(of map[string]string, plugins []Plugin) error {
	var errs []error
	for _, set := range slices.Sorted(maps.Keys(of)) {
		has := func(p Plugin) bool {
			return p.Name == of[set] && slices.Contains(p.Roles, pluginsdk.RoleValidator)
		}
		if !slices.ContainsFunc(plugins, has) {
			errs = append(errs, fmt.Errorf("the set %q needs the plugin %q with the role %s", set, of[set], pluginsdk.RoleValidator))
		}
	}
	return errors.Join(errs...)
}

// validate asks each plugin once, about the changes of its own sets, and puts the verdicts together. The first that fails
// ends it.
func (v validation) validate(ctx context.Context, c odata.Caller, proposals []odata.Proposal) (odata.Verdict, error) {
	var order []string
	places := map[string][]int{}
	for i, p := range proposals {
		plugin := v.of[p.Set]
		if places[plugin] == nil {
			order = append(order, plugin)
		}
		places[plugin] = append(places[plugin], i)
	}
	var out odata.Verdict
	user, err := callerAsUser(ctx, c)
	if err != nil {
		return odata.Verdict{}, fmt.Errorf("read who asks: %w", err)
	}
	id := auth.RequestOf(ctx).ID
	for _, plugin := range order {
		changes := make([]pluginsdk.Change, len(places[plugin]))
		for i, at := range places[plugin] {
			p := proposals[at]
			changes[i] = pluginsdk.Change{Set: p.Set, Kind: p.Kind, Key: p.Key}.WithJSON(p.Old, p.New)
		}
		leave, err := admit(ctx, v.turns[plugin], c)
		if err != nil {
			return odata.Verdict{}, err
		}
		verdict, err := v.plugins.Validate(ctx, plugin, id, user, changes)
		leave()
		if err != nil {
			return odata.Verdict{}, err
		}
		verdict.Refusals(func(change int, property, message string) {
			out.Refused = append(out.Refused, odata.Objection{Change: places[plugin][change], Property: property, Message: message})
		})
		verdict.Amendments(func(change int, property string, value json.RawMessage) {
			out.Amended = append(out.Amended, odata.Amendment{Change: places[plugin][change], Property: property, Value: value})
		})
	}
	return out, nil
}

// callerAsUser returns the user as plugins know them, before their grants. The row is read unless a policy needed it before.
func callerAsUser(ctx context.Context, c odata.Caller) (pluginsdk.User, error) {
	columns := maps.Clone(c.User)
	if columns == nil && c.SignedIn {
		row, err := auth.RequestOf(ctx).Principal().User(ctx)
		if err != nil {
			return pluginsdk.User{}, err
		}
		columns = userColumns(row)
	}
	text := func(name string) string {
		s, _ := columns[name].(string)
		delete(columns, name)
		return s
	}
	delete(columns, "id")
	return pluginsdk.User{ID: c.ID, Name: text("name"), Email: text("email"), Columns: pluginsdk.ValuesOf(columns), Locale: c.Locale}, nil
}

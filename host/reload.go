package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/mail"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Reload replaces what may change while serving: plugins, the front-end app and the TLS
// certificate. All of it is prepared first. If one part cannot be replaced, nothing is,
// and the error names each such part with the reason. A plugin that is in use as
// dispenser cannot be lost, nor can all plugins at once: only a new host goes on without
// them. The rest of o is ignored, except RestartNeeded, which the metrics show.
func (h *Host) Reload(ctx context.Context, o Options) error {
	next, err := h.prepareReload(ctx, o.withDefaults())
	if err == nil {
		next.commit(ctx, h)
		for _, part := range []string{reloadApp, reloadTLS, reloadPlugins} {
			h.metrics.Reload(part, nil)
		}
		h.metrics.RestartNeeded(o.RestartNeeded)
	}
	h.metrics.Reload(reloadConfig, err)
	return err
}

// ReloadRefused counts a reload that came to nothing because the configuration is
// wrong; err says why.
func (h *Host) ReloadRefused(err error) { h.metrics.Reload(reloadConfig, err) }

// A reload is all that a reload replaces, ready to take over.
type reload struct {
	app         *frontend.App
	certificate *loadedCertificate // nil where the host serves none
	plugins     *pluginproc.Change
	names       []Plugin
	templates   *mail.Templates
}

// prepareReload makes everything ready, and changes nothing yet. Of parts that fail it
// counts each.
func (h *Host) prepareReload(ctx context.Context, o Options) (reload, error) {
	o.Plugins, o.Mail = withPublicURL(o.Plugins, h.o.Server.PublicURL), h.o.Mail
	next := reload{names: o.Plugins}
	var errs [3]error
	next.app, errs[0] = openApp(o)
	if h.o.Server.LoadTLS != nil {
		next.certificate, errs[1] = readCertificate(o.Server.LoadTLS)
	}
	if errs[2] = errors.Join(h.plugins.Keeps(o.Plugins), h.keepsIdentities(o.Plugins), h.keepsValidators(o.Plugins)); errs[2] == nil {
		next.templates, errs[2] = h.mail.Load(o.pluginMails())
	}
	if errs[2] == nil {
		next.plugins, errs[2] = h.plugins.Prepare(ctx, o.Plugins)
	}
	for i, part := range []string{reloadApp, reloadTLS, reloadPlugins} {
		if errs[i] != nil {
			h.metrics.Reload(part, errs[i])
		}
	}
	err := errors.Join(errs[:]...)
	if err != nil && next.plugins != nil {
		err = errors.Join(err, next.plugins.Abort())
	}
	return next, err
}

// keepsIdentities returns an error if plugins lack one that an identity names: a provider would send people back to nobody.
func (h *Host) keepsIdentities(plugins []Plugin) error {
	var errs []error
	for _, i := range h.o.Identities {
		has := func(p Plugin) bool {
			return p.Name == i.Plugin && slices.Contains(p.Roles, pluginsdk.RoleIdentityProvider)
		}
		if i.Provider == nil && !slices.ContainsFunc(plugins, has) {
			errs = append(errs, fmt.Errorf("the identity %q needs the plugin %q with the role %s: put it back, or restart the host to go on without it", i.Name, i.Plugin, pluginsdk.RoleIdentityProvider))
		}
	}
	return errors.Join(errs...)
}

// keepsValidators returns an error if plugins lack one that a set names: nobody could write the set.
func (h *Host) keepsValidators(plugins []Plugin) error {
	if err := lackValidators(h.o.validators(), plugins); err != nil {
		return fmt.Errorf("%w: put it back, or restart the host to go on without it", err)
	}
	return nil
}

func (r reload) commit(ctx context.Context, h *Host) {
	expectPlugins(h.metrics, r.names)
	h.screens.SetApp(r.app)
	h.mail.Use(r.templates)
	if r.certificate != nil {
		h.tls.Store(r.certificate)
	}
	r.plugins.Commit(ctx)
}

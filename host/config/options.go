package config

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/ui"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/layer"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// Options opens the databases, waiting for database.start_wait for one that is away,
// brings the main one up to date, and builds what the host runs on. The error has a line for each finding, with its position.
// What was opened is the host's to close; after an error nothing is open.
func (c *Config) Options(ctx context.Context, logger hclog.Logger) (host.Options, error) {
	opts, findings := c.static(logger)
	if err := findings.Err(); err != nil {
		return host.Options{}, err
	}
	db, err := c.await(ctx, logger)
	if err != nil {
		return host.Options{}, err
	}
	dsn, _ := c.dsn()
	e, findings := c.fit(ctx, db, dsn, &opts)
	if err := findings.Err(); err != nil {
		return host.Options{}, withClosed(err, e, db)
	}
	if _, err := e.source.Migrate(ctx); err != nil {
		return host.Options{}, withClosed(Findings{c.requestsFinding(err)}.Err(), e, db)
	}
	for _, f := range findings { // the others are errors, which returned above
		logger.Warn("configuration", "finding", f.Error())
	}
	opts.Store = db
	opts.OData = &host.ODataOptions{
		Model: e.source.Model(), Source: e.source, Options: c.odataOptions(logger),
		Connections: c.odataConnections(), Concurrent: value(c.OData.Limits.Concurrent),
	}
	return opts, nil
}

// withClosed closes what was opened before err, and returns err alone unless that
// fails, so that findings stay findings.
func withClosed(err error, opened ...io.Closer) error {
	for _, one := range opened {
		if closeErr := one.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}
	return err
}

// AdminOptions is what commands for operators need: rules, addresses and the
// database, but no front-end app, no routes and no query endpoint, so that they
// work while those are broken. A SQLite file is created only with create, and
// only then is the database brought up to date.
func (c *Config) AdminOptions(ctx context.Context, logger hclog.Logger, create bool) (host.Options, error) {
	plugins, _ := c.plugins()
	opts := host.Options{
		Logger: logger, Server: c.serverOptions(), Auth: c.authOptions(), Plugins: plugins,
		Session: host.SessionOptions(c.Session), Identities: c.identities(false),
	}
	var err error
	if create {
		if opts.Store, err = c.migrated(ctx); err != nil {
			err = Findings{c.databaseFinding(err)}.Err()
		}
	} else {
		opts.Store, err = c.openExisting(ctx)
	}
	if err != nil {
		return opts, err
	}
	// A column that is not there is for check and serve to report: commands work
	// while the configuration is broken.
	if _, err := c.resolveColumns(ctx, opts.Store, &opts); err != nil {
		return opts, withClosed(err, opts.Store)
	}
	return opts, nil
}

// static builds everything but the databases.
func (c *Config) static(logger hclog.Logger) (host.Options, Findings) {
	findings := c.checkFiles()
	plugins, faults := c.plugins()
	findings = append(findings, faults...)
	app, own, faults := c.app()
	findings = append(findings, faults...)
	parts := c.parts()
	opts := host.Options{
		Logger: logger,
		Server: c.serverOptions(),
		Limits: host.LimitOptions{
			RequestsPerClient: c.Limits.RequestsPerClient, UpgradesPerClient: c.Limits.UpgradesPerClient, Wait: c.Database.Wait,
			Hashes: parts.Hashes, SpoolBlocks: parts.SpoolBlocks,
		},
		Session: host.SessionOptions(c.Session),
		Auth:    c.authOptions(),
		Mail:    c.mailOptions(),
		Routes:  c.routes(),
		// A directory on a developer's machine is being edited; one that is
		// published is served as it was built.
		UI:      host.UIOptions{App: app, AppName: value(c.App.Name), Errors: ui.FS(), UI5: ui.UI5(), Steps: ui.Steps(), Live: own && c.Server.PublicURL == nil},
		Plugins: plugins, Identities: c.identities(true), RestartNeeded: restartNeeded(),
	}
	return opts, findings.Sorted()
}

func (c *Config) serverOptions() host.ServerOptions {
	s := c.Server
	opts := host.ServerOptions{Address: s.Address, PublicDir: value(s.PublicDir), AdminAddress: value(s.AdminAddress), RunDir: c.runDir(), Drain: s.Drain}
	if !isDir(opts.PublicDir) {
		opts.PublicDir = ""
	}
	if s.PublicURL != nil {
		if u, err := url.Parse(strings.TrimSuffix(*s.PublicURL, "/")); err == nil {
			opts.PublicURL = u
		}
	}
	for _, cidr := range s.TrustedProxies {
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			opts.TrustedProxies = append(opts.TrustedProxies, prefix)
		}
	}
	if s.TLS.Cert != nil && s.TLS.Key != nil {
		opts.LoadTLS = s.TLS.load
	}
	return opts
}

// runDir is server.run_dir, or the first directory that systemd made for this service
// (systemd.exec(5), RuntimeDirectory).
func (c *Config) runDir() string {
	if c.Server.RunDir != nil {
		return *c.Server.RunDir
	}
	first, _, _ := strings.Cut(os.Getenv("RUNTIME_DIRECTORY"), ":")
	return first
}

func (t TLS) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(*t.Cert, *t.Key)
	if err != nil {
		return nil, fmt.Errorf("load the certificate: %w", err)
	}
	return &pair, nil
}

func (c *Config) authOptions() host.AuthOptions {
	a := c.Auth
	opts := host.AuthOptions{Rules: host.Rules{
		LoginField: a.LoginField, Attempts: a.Throttle.Attempts, Window: a.Throttle.Window, ClientAttempts: a.Throttle.ClientAttempts,
		ResetLifetime: a.Reset.Lifetime, ResetResend: a.Reset.Resend, ResetAttempts: a.Reset.Attempts,
		MinLength: a.Password.MinLength, PasswordHash: host.PasswordFormat(a.Password.Hash), PasswordOff: !a.Password.SignIn, Remember: c.Session.Remember,
		TokenLifetime: a.Tokens.MaxLifetime, OwnTokens: a.Tokens.SelfService, Recent: a.Recent,
		PasskeysOff: !a.Passkeys.Enabled, PasskeyRPID: value(a.Passkeys.RPID),
	}}
	for _, name := range a.RedirectHosts {
		opts.RedirectOrigins = append(opts.RedirectOrigins, schema.RedirectOrigin(name))
	}
	return opts
}

func (c *Config) mailOptions() host.MailOptions {
	m := c.Mail
	return host.MailOptions{
		Transport: m.Transport, Dir: m.Dir, From: m.From, Templates: value(m.Templates),
		SMTP: host.SMTPOptions{
			Host: m.SMTP.Host, Port: m.SMTP.Port, TLS: m.SMTP.TLS,
			Username: value(m.SMTP.Username), Password: value(m.SMTP.Password),
		},
	}
}

// publicRoutes are the names of routes whose guard is none by default.
func publicRoutes() []string { return []string{"home", "terms", "privacy", "cookies"} }

func (c *Config) routes() []host.Route {
	var list []host.Route
	for _, name := range labels(c, c.Routes, "route") {
		r := c.Routes[name]
		route := host.Route{
			Name: name, Path: r.Path, File: value(r.File), Dir: value(r.Dir), Redirect: value(r.Redirect),
			Guard: host.Guard(c.guardOf(name)), StripPrefix: r.StripPrefix, Tokens: r.Tokens, Assertion: r.Assertion,
		}
		if len(r.Headers) > 0 {
			route.Headers = maps.Clone(r.Headers)
		}
		if r.Proxy != nil {
			if u, err := url.Parse(*r.Proxy); err == nil {
				route.Proxy = u
			}
		}
		list = append(list, route)
	}
	return list
}

// sqliteFile is the file that a SQLite DSN names, and the DSN with that file as
// an absolute path. A DSN that names no file, such as :memory:, stays as it is.
func sqliteFile(dsn, dir string) (file, absoluteDSN string) {
	rest, isURI := strings.CutPrefix(dsn, "file:")
	if !isURI {
		if dsn == ":memory:" || dsn == "" {
			return "", dsn
		}
		file = layer.Absolute(dir, dsn)
		return file, file
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	path = strings.TrimPrefix(strings.TrimPrefix(path, "//localhost"), "//")
	if path == "" || path == ":memory:" || strings.Contains(query, "mode=memory") {
		return "", dsn
	}
	path = layer.Absolute(dir, path)
	absoluteDSN = "file:" + path
	if hasQuery {
		absoluteDSN += "?" + query
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, absoluteDSN
}

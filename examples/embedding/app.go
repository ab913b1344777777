package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// An app is the application: its pages, and the sign-in that it embeds.
type app struct {
	host    *host.Host
	admin   *host.Admin
	pages   *template.Template
	handler http.Handler
}

// openApp opens the database, makes the sign-in, mounts it among the routes, and
// starts what works behind it: mail and sweeping. Close the app after use.
func openApp(ctx context.Context, file, mails string, log hclog.Logger) (*app, error) {
	db, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a := &app{pages: pages()}
	options := host.Options{
		Logger: log,
		Store:  db,
		Mail:   host.MailOptions{Transport: "file", Dir: mails, From: "Embedding <no-reply@example.com>"},
		UI:     host.UIOptions{App: ui.FS(), UI5: ui.UI5(), Steps: ui.Steps(), AppName: "Embedding"},
	}
	if a.host, err = host.New(options); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if a.admin, err = host.NewAdmin(options); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if a.handler, err = a.routes(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := a.host.Start(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// routes are the application's own, with those of the sign-in mounted among them.
func (a *app) routes() (http.Handler, error) {
	r := mux.NewRouter()
	r.Path("/").Name("home").HandlerFunc(a.home)
	r.Path("/dashboard").Name("dashboard").Handler(a.host.Guard(host.GuardSettled, a.dashboard))
	r.Path("/terms").Name("terms").HandlerFunc(a.terms) // the login screen links to it, since it has the name
	if err := a.host.Mount(r); err != nil {
		return nil, fmt.Errorf("mount the sign-in: %w", err)
	}
	return r, nil
}

// close stops what openApp started.
func (a *app) close(ctx context.Context) error {
	return errors.Join(a.host.Stop(ctx), a.admin.Close())
}

func (a *app) home(w http.ResponseWriter, _ *http.Request) { a.page(w, "home", nil) }

func (a *app) terms(w http.ResponseWriter, _ *http.Request) { a.page(w, "terms", nil) }

// dashboard is behind the guard, so there is somebody.
func (a *app) dashboard(w http.ResponseWriter, _ *http.Request, who host.Principal) {
	a.page(w, "dashboard", map[string]string{"User": who.UserID})
}

func (a *app) page(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := a.pages.ExecuteTemplate(w, name, data); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
	}
}

func pages() *template.Template {
	return template.Must(template.New("").Parse(`
{{define "home"}}<!doctype html><html lang="en"><title>Home</title><h1>Home</h1><p><a href="/dashboard">Dashboard</a>{{end}}
{{define "terms"}}<!doctype html><html lang="en"><title>Terms</title><h1>Terms</h1>{{end}}
{{define "dashboard"}}<!doctype html><html lang="en"><title>Dashboard</title><h1>Hello, user {{.User}}</h1>
<form method="post" action="/logout"><button>Sign out</button></form>{{end}}`))
}

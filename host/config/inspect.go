package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// Metadata writes the model as $metadata does, as XML or as JSON.
func (c *Config) Metadata(ctx context.Context, out io.Writer, asJSON bool) (err error) {
	service, closer, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer()) }()
	target := "/odata/$metadata"
	if asJSON {
		target += "?$format=application/json"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	r.RequestURI, r.Host = target, "localhost"
	answer := &answer{header: http.Header{}}
	service.ServeHTTP(answer, r)
	if answer.status >= http.StatusBadRequest {
		return fmt.Errorf("%d: %s", answer.status, strings.TrimSpace(answer.body.String()))
	}
	if _, err := answer.body.WriteTo(out); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out)
	return err
}

// Explain runs the query that a target such as Products?$top=5 stands for, and
// tells how it was answered: plan, SQL, query plan, time by stage, and the index
// that would help. Guards let the operator in; a row policy that asks for columns
// of the signed-in user lets no row pass.
func (c *Config) Explain(ctx context.Context, target string) (text string, err error) {
	service, closer, err := c.service(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, closer()) }()
	explanation, err := service.Explain(ctx, target)
	if err != nil {
		return "", err
	}
	return explanation.String(), nil
}

// service is the query endpoint by itself, for an operator who may see all of it.
func (c *Config) service(ctx context.Context) (*odata.Service, func() error, error) {
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, nil, Findings{c.databaseFinding(err)}.Err()
	}
	e, findings := c.openEndpoint(ctx, db)
	if err := findings.Err(); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	closer := func() error { return errors.Join(e.Close(), db.Close()) }
	opts := c.odataOptions(hclog.NewNullLogger())
	opts.Root = "/odata/"
	opts.Caller = func(*http.Request) odata.Caller { return odata.Caller{SignedIn: true, Settled: true} }
	service, err := odata.New(e.source.Model(), e.source, opts)
	if err != nil {
		return nil, nil, errors.Join(err, closer())
	}
	return service, closer, nil
}

// An answer collects what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

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
	if _, err := out.Write(service.Metadata(asJSON)); err != nil {
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
		return nil, nil, err
	}
	dsn, _ := c.dsn()
	e, findings := c.openEndpoint(ctx, db, dsn)
	if err := findings.Err(); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	closer := func() error { return errors.Join(e.Close(), db.Close()) }
	opts := c.odataOptions(hclog.NewNullLogger())
	opts.Root = "/odata/"
	opts.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		return odata.Caller{SignedIn: true, Settled: true}, nil
	}
	service, err := odata.New(e.source.Model(), e.source, opts)
	if err != nil {
		return nil, nil, errors.Join(err, closer())
	}
	return service, closer, nil
}

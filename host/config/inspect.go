package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// Metadata writes the model as $metadata does, as XML or as JSON.
func (c *Config) Metadata(ctx context.Context, out io.Writer, asJSON bool) (err error) {
	db, err := c.openStore(ctx)
	if err != nil {
		return err
	}
	service, closer, err := c.service(ctx, db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, closer(), db.Close()) }()
	if _, err := out.Write(service.Metadata(asJSON)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out)
	return err
}

// Explained is a query to explain.
type Explained struct {
	// Target is its URL, whole or from the set on, such as Products?$top=5.
	Target string
	// As is the address of the user whom row policies are about; empty for nobody.
	As string
	// Limit is how long the database may work; odata.limits.timeout when zero.
	Limit time.Duration
}

// Explain runs a query and writes how it is answered: plan, SQL and query plan
// before it runs, then the time by stage and the index that would help. Guards let
// the operator in. A row policy that asks for columns of the signed-in user needs
// q.As. Where the time runs out, it writes what is known and that limit.
func (c *Config) Explain(ctx context.Context, out io.Writer, q Explained) (err error) {
	db, err := c.openStore(ctx)
	if err != nil {
		return err
	}
	service, closer, err := c.service(ctx, db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, closer(), db.Close()) }()
	var user map[string]any
	if q.As != "" {
		if user, err = host.PolicyUser(ctx, db, q.As); err != nil {
			return err
		}
	}
	limit := orUnlimited(c.OData.Limits.Timeout)
	if q.Limit > 0 {
		limit = q.Limit
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err = service.Explain(within, out, q.Target, user)
	switch {
	case errors.Is(err, odata.ErrNoUser):
		return fmt.Errorf("%w: ask as one of them with --as EMAIL", err)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		_, err = fmt.Fprintf(out, "the time limit of %v ran out, and the query was stopped: --timeout gives it longer\n", limit)
	}
	return err
}

// service is the query endpoint by itself, over the open main database, for an
// operator who may see all of it. The caller closes it, and then db.
func (c *Config) service(ctx context.Context, db *store.DB) (*odata.Service, func() error, error) {
	dsn, _ := c.dsn()
	e, findings := c.openEndpoint(ctx, db, dsn)
	if err := findings.Err(); err != nil {
		return nil, nil, err
	}
	opts := c.odataOptions(hclog.NewNullLogger())
	opts.Root = "/odata/"
	opts.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
		return odata.Caller{SignedIn: true, Settled: true}, nil
	}
	opts.Validate = func(context.Context, odata.Caller, []odata.Proposal) (odata.Verdict, error) {
		return odata.Verdict{}, errors.New("nothing is written here")
	}
	service, err := odata.New(e.source.Model(), e.source, opts)
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return service, e.Close, nil
}

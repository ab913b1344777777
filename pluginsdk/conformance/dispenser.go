package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// dispenser is the role of plugins that decide on the next step.
func dispenser() role {
	return role{
		name: pluginsdk.RoleDispenser,
		try: func(ctx context.Context, c *pluginsdk.Client, user pluginsdk.User) error {
			_, err := c.Dispense(ctx, user, sample("/auth/login"))
			return err
		},
		checks: []check{
			{"dispenses for all kinds of people", (*subject).dispenses},
			{"dispenses for many at once", (*subject).dispensesInParallel},
		},
	}
}

func (s *subject) dispenses() error {
	for name, user := range people() {
		for _, intended := range []string{"", "/orders?id=1"} {
			req := sample("/auth/login")
			req.Intended = intended
			ctx, cancel := s.call()
			_, err := s.instance.Client.Dispense(ctx, user, req)
			cancel()
			if err := acceptable(err); err != nil {
				return fmt.Errorf("for %s: %w", name, err)
			}
		}
	}
	return nil
}

func (s *subject) dispensesInParallel() error {
	errs := make([]error, 32)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			ctx, cancel := s.call()
			defer cancel()
			_, err := s.instance.Client.Dispense(ctx, people()["a person with null columns"], sample("/auth/login"))
			errs[i] = acceptable(err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

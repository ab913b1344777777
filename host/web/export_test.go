package web

import "context"

// EndWith is endWith.
func EndWith(ctx context.Context, end func(), alive func(context.Context) (bool, error)) {
	endWith(ctx, end, alive)
}

package config

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/host"
	"github.com/vestibule-dev/vestibule/host/store"
)

func (c *Config) openOData(ctx context.Context, db *store.DB, logger hclog.Logger) (*host.ODataOptions, Findings) {
	return nil, nil
}

func (c *Config) verifyOData(ctx context.Context, db *store.DB) Findings { return nil }

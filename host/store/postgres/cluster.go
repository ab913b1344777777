package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/nodes"
)

// cluster makes a node of each server in the configuration. Where standbys are only
// preferred all are one node, because the driver chooses among them.
func cluster(config *pgx.ConnConfig, dsn string, options ...stdlib.OptionOpenDB) (*nodes.Cluster, error) {
	config.OnPgError = keeps
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = nodes.DefaultTimeout
	}
	if strings.Contains(dsn, "prefer-standby") {
		n := node(config, options...)
		n.Timeout *= time.Duration(len(servers(config)))
		return nodes.New(n)
	}
	var all []nodes.Node
	for _, server := range servers(config) {
		all = append(all, node(server, options...))
	}
	return nodes.New(all...)
}

// servers returns a configuration for each server. Fallbacks to the same one, with and
// without TLS, stay with it.
func servers(config *pgx.ConnConfig) []*pgx.ConnConfig {
	entries := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	var all []*pgx.ConnConfig
	for _, e := range entries {
		if n := len(all); n > 0 && all[n-1].Host == e.Host && all[n-1].Port == e.Port {
			all[n-1].Fallbacks = append(all[n-1].Fallbacks, e)
			continue
		}
		one := config.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks = e.Host, e.Port, e.TLSConfig, nil
		all = append(all, one)
	}
	return all
}

// node is the server, or the servers, of a configuration.
func node(config *pgx.ConnConfig, options ...stdlib.OptionOpenDB) nodes.Node {
	timeout := config.ConnectTimeout
	if _, err := netip.ParseAddr(config.Host); err != nil && !filepath.IsAbs(config.Host) {
		timeout *= 2 // a name may stand for two addresses, of which the first hangs
	}
	return nodes.Node{
		Timeout: timeout,
		Open: func(dial nodes.Dial) (driver.Connector, error) {
			own := config.Copy()
			own.DialFunc = pgconn.DialFunc(dial)
			return stdlib.GetConnector(*own, options...), nil
		},
		Ask: func(ctx context.Context, c driver.Conn) error {
			conn := c.(*stdlib.Conn).Conn().PgConn()
			if err := conn.Ping(ctx); err != nil || config.ValidateConnect == nil {
				return err
			}
			return config.ValidateConnect(ctx, conn)
		},
		Answered: answered,
	}
}

// answered reports whether the server has said something, other than that it stops or
// is not yet there.
func answered(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && !strings.HasPrefix(said.Code, "57P")
}

// keeps reports whether a connection may be used again after an error: not behind a fatal
// one, as the driver has it, nor where the server refuses to write. It may have become
// a standby, and behind the same address another one may take writes now.
func keeps(_ *pgconn.PgConn, err *pgconn.PgError) bool {
	return !strings.EqualFold(err.Severity, "FATAL") && err.Code != "25006"
}

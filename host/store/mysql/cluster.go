package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/nodes"
)

// cluster has one node, because a DSN names one address. A network that a program has
// registered with the driver is dialed by the driver, so that its connections cannot
// be closed from outside.
func cluster(config *mysql.Config) (*nodes.Cluster, error) {
	if config.Timeout == 0 {
		config.Timeout = nodes.DefaultTimeout
	}
	return nodes.New(nodes.Node{
		Timeout: config.Timeout,
		Open: func(dial nodes.Dial) (driver.Connector, error) {
			own := config.Clone()
			if own.DialFunc == nil && (own.Net == "tcp" || own.Net == "unix") {
				own.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := dial(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return newSocket(ctx, c), nil
				}
				own.Logger = log{}
			}
			made, err := mysql.NewConnector(own)
			if err != nil {
				return nil, err
			}
			return connector{made}, nil
		},
		Ask: func(ctx context.Context, c driver.Conn) error { return c.(driver.Pinger).Ping(ctx) },
		Answered: func(err error) bool {
			var said *mysql.MySQLError
			return errors.As(err, &said) && said.Number != shutdown
		},
	})
}

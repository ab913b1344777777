package mysql

import (
	"bufio"
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
					return &buffered{c, bufio.NewReaderSize(c, 32<<10)}, nil
				}
			}
			return mysql.NewConnector(own)
		},
		Ask: func(ctx context.Context, c driver.Conn) error { return c.(driver.Pinger).Ping(ctx) },
		Answered: func(err error) bool {
			var said *mysql.MySQLError
			return errors.As(err, &said) && said.Number != shutdown
		},
	})
}

// buffered is a connection that takes what the server has sent meanwhile with one system call. The driver reads 4 KiB at a
// time, and a page of rows has some ten times that.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (c *buffered) Read(p []byte) (int, error) { return c.reader.Read(p) }

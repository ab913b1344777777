package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// connectionLife stays below the time after which proxies and servers drop
// connections silently.
const connectionLife = 3 * time.Minute

// Open opens the database that dsn names, as the driver reads it:
// "user:password@tcp(host:3306)/database". Open overrides the parameters of the
// DSN that the store relies on: affected rows count the rows found, times are
// read as such, and a value that is too long is an error instead of being cut
// off. A connection must be made within 1 s unless the parameter timeout says
// otherwise, and those of a server that does not answer are closed. MariaDB ends a
// transaction that stands still for 3 s, unless the DSN names idle_transaction_timeout.
// Errors never contain the password. Close the DB after use.
func Open(ctx context.Context, dsn string) (*store.DB, error) {
	if strings.Contains(dsn, idleTransaction) {
		return open(ctx, dsn, "")
	}
	return open(ctx, dsn, "/*M!100300 , "+idleTransaction+" = 3 */")
}

// idleTransaction is how long the server lets a transaction wait for its client. A host that has left a server which seems
// to hang cannot tell it so: where only the way to it is cut, the server would keep the locks of that host's transactions
// for hours, and nobody could change these rows. It is as long as package nodes needs to leave a server. MySQL, which has
// nothing like it, takes it for a comment.
const idleTransaction = "idle_transaction_timeout"

// OpenForQueries is like Open, for queries, which hold no locks: their transactions may stand still, as while somebody
// reads an answer slowly. The time zone of their sessions is UTC unless the DSN names time_zone: in another one the hour that
// summer time repeats has two meanings, in which a TIMESTAMP is neither read nor written exactly.
func OpenForQueries(ctx context.Context, dsn string) (*store.DB, error) {
	if strings.Contains(dsn, "time_zone") {
		return open(ctx, dsn, "")
	}
	return open(ctx, dsn, ", time_zone = '+00:00'")
}

func open(ctx context.Context, dsn, settings string) (*store.DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if config.DBName == "" {
		return nil, errors.New("open database: the dsn names no database: add /NAME after the address")
	}
	config.ClientFoundRows = true
	config.ParseTime = true
	config.Loc = time.UTC
	config.InterpolateParams = true // one round trip for a statement, not three
	config.RejectReadOnly = true    // after a failover, leave a server that has become a replica
	config.Params = maps.Clone(config.Params)
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	// The driver makes one SET of all parameters.
	config.Params["sql_mode"] = "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'" + settings
	server, err := cluster(config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return store.Connect(ctx, dialect(), server, "mysql", connectionLife)
}

func dialect() store.Dialect {
	return store.Dialect{
		Name:  "mysql",
		Goose: "mysql",
		Bind:  sqlx.QUESTION,
		Quote: "`",
		// Text that is compared byte by byte has to be VARBINARY: text ignores case
		// and trailing blanks.
		Types: []string{
			"{auto}", "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY", "{key}", "VARBINARY(255)", "{bytes}", "VARBINARY(64)",
			"{blob}", "MEDIUMBLOB", "{time}", "TIMESTAMP NULL", "{engine}", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
			"{computed}", "VIRTUAL", "{fold_index}", "",
		},
		KeyTypes: map[string]string{"int": "SIGNED"},
		Columns: `SELECT column_name AS name, LOWER(column_type) AS type,
			COALESCE(character_maximum_length, 0) AS length, COALESCE(collation_name LIKE '%\_ci', 0) AS folds,
			extra LIKE '%auto_increment%' OR COALESCE(column_default, 'NULL') <> 'NULL' AS auto,
			is_nullable = 'NO' AND column_default IS NULL AND extra NOT LIKE '%auto_increment%' AND extra NOT LIKE '%generated%' AS required
			FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`,
		FoldsColumns: true,
		Lock:         `SELECT GET_LOCK(CONCAT('vestibule.', MD5(DATABASE())), 120)`,
		Unlock:       `DO RELEASE_LOCK(CONCAT('vestibule.', MD5(DATABASE())))`,
		ForUpdate:    ` FOR UPDATE`,
		Isolation:    sql.LevelReadCommitted, // the default locks gaps, and reads what was
		Watch:        watch,
		Time:         func(t time.Time) any { return t },
		Unavailable: func(err error) bool {
			return errors.Is(err, mysql.ErrInvalidConn) || is(err, tooManyConnections, shutdown, readOnly, lockWaitTimeout)
		},
		UniqueViolation: func(err error) bool { return is(err, duplicateKey) },
		BadValue:        badValue,
		AlreadyExists:   func(err error) bool { return is(err, tableExists, duplicateIndex, duplicateColumn) },
		BackupTool:      "mariadb-dump --single-transaction",
	}
}

// Error numbers of the server.
const (
	tooManyConnections = 1040
	tableExists        = 1050
	shutdown           = 1053
	duplicateColumn    = 1060
	duplicateIndex     = 1061
	duplicateKey       = 1062
	lockWaitTimeout    = 1205
	dataTruncated      = 1265
	readOnly           = 1290
	wrongValue         = 1366
)

// badValue knows data exceptions, violated constraints, and SIGNAL in a trigger by the class
// of their SQLSTATE, and two errors that have none of these.
func badValue(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	class := string(e.SQLState[:2])
	return class == "22" || class == "23" || class == "45" || is(err, dataTruncated, wrongValue)
}

func is(err error, numbers ...uint16) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	for _, n := range numbers {
		if e.Number == n {
			return true
		}
	}
	return false
}

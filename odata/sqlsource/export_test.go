package sqlsource

import (
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// IsPostgreSQL matches the names of servers whose snapshots are relied on.
const IsPostgreSQL = isPostgreSQL

// Hold sets how long a transaction may keep the lock of a SQLite file.
func (s *Source) Hold(d time.Duration) { s.db.(*engine.SQLite).Hold = d }

// WithoutReturning makes a source write like one of MySQL, whose statements return no rows.
func (s *Source) WithoutReturning() { s.shape.mapping.NoReturning = true }

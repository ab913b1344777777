package sqlsource

import (
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// IsPostgreSQL matches the names of servers whose snapshots are relied on.
const IsPostgreSQL = isPostgreSQL

// Hold sets how long a transaction may keep the lock of a SQLite file.
func (s *Source) Hold(d time.Duration) { s.db.(*engine.SQLite).Hold = d }

package cursor

import (
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// ask runs a statement, unless it has more parameters than the database takes.
func (r *rows) ask(s sqltext.Statement) (engine.Cursor, error) {
	if most := r.gen.MaxParameters(); len(s.Args) > most {
		return nil, plan.Errorf(plan.TooLarge, -1, "the request becomes a statement with %d parameters, and the database takes %d", len(s.Args), most)
	}
	return r.tx.Query(s.SQL, s.Args)
}

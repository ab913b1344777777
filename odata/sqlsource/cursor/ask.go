package cursor

import (
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// ask runs a statement that fits.
func (r *rows) ask(s sqltext.Statement) (engine.Cursor, error) {
	if err := r.fits(s); err != nil {
		return nil, err
	}
	return r.tx.Query(s.SQL, s.Args)
}

// fits returns an error for a statement with more parameters than the database takes.
func (r *rows) fits(s sqltext.Statement) error {
	if most := r.gen.MaxParameters(); len(s.Args) > most {
		return plan.Errorf(plan.TooLarge, -1, "the request becomes a statement with %d parameters, and the database takes %d", len(s.Args), most)
	}
	return nil
}

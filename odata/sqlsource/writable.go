package sqlsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// writable finds sets that the database does not let this program write: one that takes no writes, such as a replica, or a user
// without the right. It tries statements that change no row, and undoes them. Any other error tells nothing of that.
func (s *Source) writable(ctx context.Context, b *builder) error {
	var findings []Finding
	for _, set := range b.sets {
		w := set.edm.Write
		if w == nil {
			continue
		}
		for _, t := range []struct {
			allowed   bool
			key, verb string
		}{{w.Create, "create", "INSERT"}, {w.Update, "update", "UPDATE"}, {w.Delete, "delete", "DELETE"}} {
			if !t.allowed {
				continue
			}
			err := s.tryWrite(ctx, s.gen.Nothing(set.edm, t.verb))
			switch {
			case engine.TakesNoWrites(err):
				findings = append(findings, Finding{Path: set.at("write"), What: "the database takes no writes: it is a replica, or may only be read", Remedy: "name the database that is written, or take write out"})
			case engine.MayNot(err):
				findings = append(findings, Finding{
					Path: set.at("write", t.key), What: fmt.Sprintf("the user of the database may not %s rows of %q", t.verb, set.table.Name),
					Remedy: fmt.Sprintf("grant it the right to %s, or set %s = false", t.verb, t.key),
				})
			}
			if engine.TakesNoWrites(err) {
				break
			}
		}
	}
	if findings != nil {
		return &Invalid{findings}
	}
	return nil
}

func (s *Source) tryWrite(ctx context.Context, statement string) (err error) {
	tx, err := s.db.BeginWrite(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	if forbidding, ok := tx.(interface{ ReadsOnly() (bool, error) }); ok {
		if only, err := forbidding.ReadsOnly(); err != nil || only {
			return errors.Join(err, engine.ErrReadOnly)
		}
	}
	_, err = tx.Exec(statement, nil)
	return err
}

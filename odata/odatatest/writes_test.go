package odatatest_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

func TestMemoryWrites(t *testing.T) {
	t.Parallel()
	subject := func(cfg sqlsource.Config, tables []odatatest.Table) func(testing.TB) odatatest.Subject {
		return func(t testing.TB) odatatest.Subject {
			source, err := memory.New(odatatest.MemoryOf(cfg, tables))
			if err != nil {
				t.Fatal(err)
			}
			return odatatest.Subject{Model: source.Model(), Source: source}
		}
	}
	fresh := subject(odatatest.WriteMapping(), odatatest.WriteTables())
	odatatest.RunWrites(t, fresh)
	odatatest.RunWriteOrder(t, subject(odatatest.OrderMapping(), odatatest.OrderTables()))
	odatatest.RunLinkRules(t, subject(odatatest.LinkMapping(), odatatest.LinkTables()))
	t.Run("links over a table in between", func(t *testing.T) { odatatest.RunLinks(t, fresh) })
	t.Run("under rules", func(t *testing.T) {
		odatatest.RunJudged(t, fresh)
		odatatest.RunWrites(t, odatatest.UnderRules(fresh))
		odatatest.RunWriteOrder(t, odatatest.UnderRules(subject(odatatest.OrderMapping(), odatatest.OrderTables())))
		odatatest.RunLinkRules(t, odatatest.UnderRules(subject(odatatest.LinkMapping(), odatatest.LinkTables())))
		odatatest.RunLinks(t, odatatest.UnderRules(fresh))
		odatatest.RunUpserts(t, odatatest.UnderRules(fresh))
	})
	t.Run("upserts at once", func(t *testing.T) { odatatest.RunUpserts(t, fresh) })
}

package odatatest_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
)

func TestMemoryWrites(t *testing.T) {
	t.Parallel()
	fresh := func(t testing.TB) odatatest.Subject {
		source, err := memory.New(odatatest.MemoryOf(odatatest.WriteMapping(), odatatest.WriteTables()))
		if err != nil {
			t.Fatal(err)
		}
		return odatatest.Subject{Model: source.Model(), Source: source}
	}
	odatatest.RunWrites(t, fresh)
	t.Run("links over a table in between", func(t *testing.T) { odatatest.RunLinks(t, fresh) })
	t.Run("upserts at once", func(t *testing.T) { odatatest.RunUpserts(t, fresh) })
}

func TestMemoryLinks(t *testing.T) {
	t.Parallel()
	odatatest.RunLinkRules(t, func(t testing.TB) odatatest.Subject {
		source, err := memory.New(odatatest.MemoryOf(odatatest.LinkMapping(), odatatest.LinkTables()))
		if err != nil {
			t.Fatal(err)
		}
		return odatatest.Subject{Model: source.Model(), Source: source}
	})
}

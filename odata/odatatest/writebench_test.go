package odatatest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
)

// BenchmarkWrite measures what a request that writes costs besides the database: rows are in memory, of few rows.
func BenchmarkWrite(b *testing.B) {
	source, err := memory.New(odatatest.MemoryOf(odatatest.WriteMapping(), odatatest.WriteTables()))
	if err != nil {
		b.Fatal(err)
	}
	service, err := odata.New(source.Model(), source, odata.Options{
		Root: "/odata/", Base: func(*http.Request) string { return "http://h" },
		Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true, User: map[string]any{"id": int64(1)}}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	e := &written{service: service}
	b.ReportAllocs()
	for i := range b.N {
		body := fmt.Sprintf(`{"title":"T%d","price":12.5,"stock":3,"maker_id":1,"made":"2024-02-29","remark":"some text","ok":true}`, i)
		if w := e.send(http.MethodPatch, "Parts('A')", body, 1, "If-Match", "*"); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

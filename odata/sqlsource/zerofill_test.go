package sqlsource_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestZerofill holds that the zeros that MariaDB puts in front of numbers never come into JSON, which knows no such
// numbers, whoever writes the rows.
func TestZerofill(t *testing.T) {
	const script = "CREATE TABLE padded (id INT(5) ZEROFILL PRIMARY KEY, d DECIMAL(8,2) ZEROFILL, w DECIMAL(8,0) ZEROFILL, b BIGINT ZEROFILL, i SMALLINT ZEROFILL, f DOUBLE ZEROFILL);\n" +
		"INSERT INTO padded VALUES (1, 1.5, 20, 300, 40, 0.5), (2, 0, 0, 0, 0, 0), (3, 123456.78, 12345678, 18446744073709551615, 65535, 1e21)"
	const want = `{"id":1,"d":1.50,"w":20,"b":300,"i":40,"f":0.5},{"id":2,"d":0.00,"w":0,"b":0,"i":0,"f":0},` +
		`{"id":3,"d":123456.78,"w":12345678,"b":18446744073709551615,"i":65535,"f":1e+21}`
	for name, parameters := range map[string]string{"as a host opens it": "&interpolateParams=true&parseTime=true", "by prepared statements": ""} {
		t.Run(name, func(t *testing.T) {
			source := open(t, databaseWith(t, "mysql", parameters, script), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"padded"}})
			for by, s := range map[string]odata.Source{"the source": source, "values": &cells{shop: source}} {
				service, err := odata.New(source.Model(), s, odata.Options{Root: "/"})
				if err != nil {
					t.Fatal(err)
				}
				for target, want := range map[string]string{
					"padded": want,
					"padded?$select=id,s,n&$compute=cast(d,Edm.String)%20as%20s,cast(i,Edm.String)%20as%20n&$filter=f%20gt%200.25%20and%20d%20lt%202": `{"id":1,"s":"1.5","n":"40"}`,
				} {
					w := httptest.NewRecorder()
					service.ServeHTTP(w, httptest.NewRequest("GET", "http://h/"+target, nil))
					if got := w.Body.String(); !strings.Contains(got, `"value":[`+want+"]") {
						t.Errorf("%s by %s: %s", target, by, got)
					}
				}
			}
		})
	}
}

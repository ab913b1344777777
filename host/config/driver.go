package config

import (
	"regexp"
	"slices"
	"strings"
)

// dsnForms are the forms of a data source name that name the driver.
const dsnForms = "a file of SQLite, postgres://user:password@host/name, or user:password@tcp(host:3306)/name"

// driverOf returns the driver that takes a data source name of this form: postgres for a URL or for
// "host=… dbname=…", mysql for a network address in brackets, and sqlite for a file. It is empty if none of them does.
func driverOf(dsn string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(dsn, part) })
	}
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return "postgres"
	case regexp.MustCompile(`^\w+ *= *\S`).MatchString(dsn) && has("host=", "dbname=", "service=") && !has(";"):
		return "postgres"
	case strings.HasPrefix(dsn, "file:"):
		return "sqlite"
	case regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|\w+://)`).MatchString(dsn): // mysql://, jdbc:mariadb://
		return ""
	case has("@tcp(", "@unix(", "@(", "@/"), strings.HasPrefix(dsn, "tcp("), strings.HasPrefix(dsn, "unix("):
		return "mysql"
	case has(";") && has("="): // Server=…;Database=…
		return ""
	}
	return "sqlite"
}

// otherQueries returns the driver and the DSN of odata.database; other is false if queries read the main database. driver
// is empty if neither the block nor the form of the DSN names it.
func (c *Config) otherQueries() (driver, dsn string, other bool) {
	o := c.OData.Database
	switch {
	case o.DSN == nil:
		return "", "", false
	case o.Driver != nil:
		return *o.Driver, *o.DSN, true
	}
	return driverOf(*o.DSN), *o.DSN, true
}

// checkQueries demands a DSN beside a driver, and a driver for a DSN whose form names none.
func (c *Config) checkQueries(f *Findings) {
	if c.faulty("odata", "database", "driver") || c.faulty("odata", "database", "dsn") {
		return
	}
	driver, _, other := c.otherQueries()
	switch {
	case !other && c.OData.Database.Driver != nil:
		f.Add(c.at("odata", "database", "driver"), "odata.database.driver stands without dsn", "add dsn = …, or take driver out")
	case other && driver == "":
		f.Add(c.at("odata", "database", "dsn"), "odata.database.dsn has the form of no driver", "write "+dsnForms+", or add driver = …")
	}
}

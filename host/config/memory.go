package config

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/memory"
	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// memory returns server.memory, or its default on this machine, and what was found there.
func (c *Config) memory() (setting int64, found memory.Found) {
	found = memory.Find(os.DirFS("/"))
	if c.Server.Memory != nil {
		return *c.Server.Memory, found
	}
	return memory.Default(found), found
}

// parts are the parts of server.memory.
func (c *Config) parts() memory.Parts {
	setting, _ := c.memory()
	return memory.Divide(setting, memory.Use{Processors: runtime.GOMAXPROCS(0), Queries: c.odataConnections(), SQLite: c.usesSQLite()})
}

// usesSQLite reports whether sign-in or queries read a SQLite file.
func (c *Config) usesSQLite() bool {
	driver, _, other := c.otherQueries()
	return c.Database.Driver == "sqlite" || other && driver == "sqlite"
}

// checkMemory demands as much as a host needs.
func (c *Config) checkMemory(f *Findings) {
	if m := c.Server.Memory; m != nil && *m < memory.Least && !c.faulty("server", "memory") {
		f.Add(c.at("server", "memory"), fmt.Sprintf("memory = %s is less than a host needs", schema.Bytes(*m)),
			fmt.Sprintf("give at least %s, or take it out", schema.Bytes(memory.Least)))
	}
}

// scarceMemory warns of a setting that the machine, or the control group, does not have.
func (c *Config) scarceMemory(f *Findings) {
	if setting, found := c.memory(); found.Bytes > 0 && setting > found.Bytes {
		f.Warn(c.at("server", "memory"), fmt.Sprintf("server.memory is %s, and the %s has %s", schema.Bytes(setting), found.Where, schema.Bytes(found.Bytes)),
			fmt.Sprintf("give less, but at least %s, or give the host more", schema.Bytes(memory.Least)))
	}
}

// mebibytes is a size for the log.
func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n>>20) }

// startPercent is GOGC while a configuration is read and a catalogue: with a thousand tables they take half the processor
// time of 100 then, and 220 MiB instead of 130.
const startPercent = 400

// CollectSeldom lets Go collect garbage seldom until usual is called, and takes at most half of what the machine or the
// control group has meanwhile. The variables GOGC and GOMEMLIMIT come before both. Call it once, before Load.
func CollectSeldom() (usual func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	if found := memory.Find(os.DirFS("/")); found.Bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(found.Bytes / 2)
	}
	before := debug.SetGCPercent(startPercent)
	return func() { debug.SetGCPercent(before) }
}

// LimitMemory sets the limits of this process that follow from server.memory: that of SQLite and, unless the variable
// GOMEMLIMIT sets it, that of Go. Call it once, before Options. tell logs them.
func (c *Config) LimitMemory() (tell func(hclog.Logger)) {
	setting, found := c.memory()
	parts := c.parts()
	taken := []any{"server.memory", mebibytes(setting), "found", mebibytes(found.Bytes), "where", found.Where}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(parts.Go)
	}
	taken = append(taken, "go", mebibytes(debug.SetMemoryLimit(-1)))
	var err error
	if parts.SQLite > 0 {
		taken = append(taken, "sqlite", mebibytes(parts.SQLite))
		err = sqlite.LimitMemory(parts.SQLite)
	}
	return func(logger hclog.Logger) {
		logger.Info("memory", taken...)
		if err != nil {
			logger.Warn("the memory of SQLite has no limit", "cause", err)
		}
	}
}

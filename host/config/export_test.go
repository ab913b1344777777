package config

// SourceKeys are the settings of .ui5-sources.hcl.
var SourceKeys = sourceKeys

// DriverOf is the driver that the form of a DSN names.
var DriverOf = driverOf

package config

// SourceKeys are the settings of .ui5-sources.hcl.
var SourceKeys = sourceKeys

// Finishes and checks the SBOM of a release, apart from the product's own go.mod.
module github.com/vestibule-dev/vestibule/sbom

go 1.26.0

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/google/uuid v1.6.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)

require golang.org/x/text v0.14.0 // indirect

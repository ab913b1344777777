// Sbom finishes the SBOM of an archive, which syft has found, or checks one against
// programs of the archive. syft notes when and where it ran; what is finished here
// depends on the archive, the commit's time and the notices alone, so that it is the
// same to the last bit when it is made again.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	var o options
	flag.StringVar(&o.found, "found", "", "the `file` that syft wrote; without it, the arguments are programs that -sbom is checked against")
	flag.StringVar(&o.folder, "folder", "", "where syft found the archive unpacked")
	flag.StringVar(&o.archive, "archive", "", "the archive, a `file`")
	flag.StringVar(&o.notices, "notices", "", "the `file` NOTICES with the licences")
	flag.StringVar(&o.schemas, "schemas", "", "a `folder` with the schemas of CycloneDX")
	flag.StringVar(&o.sbom, "sbom", "", "the SBOM, a `file`")
	flag.Parse()
	do := finish
	if o.found == "" {
		do = check
	}
	if err := do(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type options struct{ found, folder, archive, notices, schemas, sbom string }

// read decodes a file, which must be as the schema of its version wants it.
func read(name, schemas string) (*cdx.BOM, error) {
	if err := validate(name, schemas); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	bom := new(cdx.BOM)
	return bom, cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(bom)
}

// validate holds a file against the schema of CycloneDX 1.6, which names the others
// by where they are published.
func validate(name, schemas string) error {
	const published = "http://cyclonedx.org/schema/"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for url, file := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		schema, err := decode(filepath.Join(schemas, file))
		if err != nil {
			return err
		}
		if err := c.AddResource(published+url, schema); err != nil {
			return err
		}
	}
	schema, err := c.Compile(published + "bom-1.6.schema.json")
	if err != nil {
		return err
	}
	instance, err := decode(name)
	if err != nil {
		return err
	}
	return schema.Validate(instance)
}

func decode(name string) (any, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	value, err := jsonschema.UnmarshalJSON(f)
	if _, wrong := err.(*json.SyntaxError); wrong {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return value, err
}

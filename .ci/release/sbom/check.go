package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// check compares the SBOM with what the go command has noted in programs: each is there
// with its checksum, and so is each module of each, with version, checksum and licence.
func check(o options, programs []string) error {
	bom, err := read(o.sbom, o.schemas)
	if err != nil {
		return err
	}
	var wrong []error
	modules := 0
	for _, program := range programs {
		sum, err := sha256Of(program)
		if err != nil {
			return err
		}
		file := component(bom, func(c cdx.Component) bool {
			return c.Type == cdx.ComponentTypeFile && path.Base(c.Name) == filepath.Base(program) && has(c.Hashes, sum)
		})
		if file == nil {
			wrong = append(wrong, fmt.Errorf("%s with SHA-256 %s is not in it", program, sum))
			continue
		}
		built, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		for _, m := range built.Deps {
			modules++
			found := component(bom, func(c cdx.Component) bool {
				return c.Name == m.Path && c.Version == m.Version && property(c, "syft:metadata:h1Digest") == m.Sum &&
					c.PackageURL == "pkg:golang/"+strings.ToLower(m.Path)+"@"+m.Version && in(c, file.Name)
			})
			if found == nil || found.Licenses == nil || len(*found.Licenses) == 0 {
				wrong = append(wrong, fmt.Errorf("%s %s (%s) of %s is not in it with a licence", m.Path, m.Version, m.Sum, program))
			}
		}
		if component(bom, func(c cdx.Component) bool {
			return c.Name == "stdlib" && c.Version == built.GoVersion && in(c, file.Name)
		}) == nil {
			wrong = append(wrong, fmt.Errorf("the standard library of %s, %s, is not in it", program, built.GoVersion))
		}
	}
	if modules < 50 {
		wrong = append(wrong, fmt.Errorf("the programs have %d modules in all, and more are expected", modules))
	}
	return errors.Join(wrong...)
}

func component(bom *cdx.BOM, fits func(cdx.Component) bool) *cdx.Component {
	for _, c := range *bom.Components {
		if fits(c) {
			return &c
		}
	}
	return nil
}

// in reports whether syft found a module in a file.
func in(c cdx.Component, file string) bool {
	return strings.TrimPrefix(property(c, "syft:location:0:path"), "/") == file
}

func property(c cdx.Component, name string) string {
	if c.Properties == nil {
		return ""
	}
	for _, p := range *c.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func has(hashes *[]cdx.Hash, sum string) bool {
	if hashes == nil {
		return false
	}
	for _, h := range *hashes {
		if h.Algorithm == cdx.HashAlgoSHA256 && h.Value == sum {
			return true
		}
	}
	return false
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// finish writes what syft found with the commit's time, a serial number made of the
// archive, names of files as they are in it, and the licences of the notices.
func finish(o options, _ []string) error {
	bom, err := read(o.found, o.schemas)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is to be the time of the commit, in seconds since 1970: %w", err)
	}
	sum, err := sha256Of(o.archive)
	if err != nil {
		return err
	}
	notices, err := os.ReadFile(o.notices)
	if err != nil {
		return err
	}
	bom.Metadata.Timestamp = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/vestibule-dev/vestibule/releases/"+filepath.Base(o.archive)+"#"+sum)).URN()
	whole := bom.Metadata.Component
	whole.Type, whole.BOMRef = cdx.ComponentTypeApplication, filepath.Base(o.archive)
	whole.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	whole.Licenses = &cdx.Licenses{licence("MIT")}
	if bom.Components == nil {
		return errors.New("syft has found nothing")
	}
	known := licences(string(notices))
	for i := range *bom.Components {
		if err := complete(&(*bom.Components)[i], o.folder, known); err != nil {
			return err
		}
	}
	if err := write(o.sbom, bom); err != nil {
		return err
	}
	return validate(o.sbom, o.schemas)
}

func complete(c *cdx.Component, folder string, known map[string]cdx.Licenses) error {
	if c.Type == cdx.ComponentTypeFile {
		name, err := filepath.Rel(folder, c.Name)
		if err != nil || !filepath.IsLocal(name) {
			return fmt.Errorf("syft names the file %s, which is not below %s", c.Name, folder)
		}
		c.Name = filepath.ToSlash(name)
		return nil
	}
	key := c.Name + " " + c.Version
	switch {
	case c.Name == "stdlib":
		key = "Go, its runtime and standard library " + c.Version
	case strings.HasPrefix(c.Name, "github.com/vestibule-dev/vestibule/"):
		c.Licenses = &cdx.Licenses{licence("MIT")}
		return nil
	}
	l, ok := known[key]
	if !ok {
		return fmt.Errorf("the notices have no licence of %s", key)
	}
	c.Licenses = &l
	return nil
}

// licences returns those of the list at the head of the notices, by name and version.
func licences(notices string) map[string]cdx.Licenses {
	known := map[string]cdx.Licenses{}
	for _, m := range regexp.MustCompile(`(?m)^- (.+ \S+): (.+)$`).FindAllStringSubmatch(notices, -1) {
		var list cdx.Licenses
		for name := range strings.SplitSeq(m[2], ", ") {
			list = append(list, licence(name))
		}
		known[m[1]] = list
	}
	return known
}

// licence is one by its name in the list of SPDX, or by a name with a blank in it.
func licence(name string) cdx.LicenseChoice {
	if strings.Contains(name, " ") {
		return cdx.LicenseChoice{License: &cdx.License{Name: name}}
	}
	return cdx.LicenseChoice{License: &cdx.License{ID: name}}
}

func write(name string, bom *cdx.BOM) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return errors.Join(err, f.Close())
}

func sha256Of(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

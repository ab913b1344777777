package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const unit = "../../../.ci/release/vestibule.service"

// The unit that packages bring and the one that people copy are one text.
func TestUnitIsTheDocumentedOne(t *testing.T) {
	packaged, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	documented, err := os.ReadFile("../../../docs/operations/service.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(documented), "\n```ini\n"+string(packaged)+"```\n") {
		t.Errorf("docs/operations/service.md does not have the text of %s", filepath.Base(unit))
	}
}

// systemd rates a unit from 0 to 10, where 10 may do everything.
func TestUnitIsHardened(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", unit).CombinedOutput()
	if err != nil && strings.Contains(string(out), "unrecognized option") {
		t.Skip("systemd-analyze is older than 250 here")
	}
	found := regexp.MustCompile(`exposure level for .*: ([0-9.]+)`).FindStringSubmatch(string(out))
	if found == nil {
		t.Fatalf("no rating (%v): %s", err, out)
	}
	if rating, err := strconv.ParseFloat(found[1], 64); err != nil || rating >= 3 {
		t.Errorf("the unit is rated %s, want less than 3:\n%s", found[1], out)
	}
}

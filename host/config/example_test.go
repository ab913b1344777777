package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// All that is wrong is reported at once, with its place and a remedy.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	text := "server {\n  adress = \"127.0.0.1:8080\"\n}\nsession {\n  idle = 2\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "config.hcl"), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, findings := config.Load(config.Source{
		File:    filepath.Join(dir, "config.hcl"),
		Environ: []string{"VESTIBULE_ODATA__PAGINATION__MAX=many"},
	})
	for _, f := range findings {
		fmt.Printf("%d: %s: %s\n", f.At.Line, f.What, f.Remedy)
	}
	// Output:
	// 2: unknown key "adress" in server: did you mean "address"?
	// 5: idle is a number: give a duration such as "60s"
	// 0: max is a string: give an integer
}

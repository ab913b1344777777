# `make help` lists what there is. Tools are pinned here and run by Go itself.
GOLANGCI    := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT     := go run mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.8.0
# The newest that knows without a cluster what a version of Kubernetes takes.
KUBECTL_VALIDATE := go run sigs.k8s.io/kubectl-validate@v0.0.4
ACTIONLINT  := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7

# Releases: the newest goreleaser that compiles with Go 1.26.
# Syft takes four minutes of a processor to compile, once.
RELEASE_TOOLS := GORELEASER_VERSION=v2.16.0 MINISIGN_VERSION=v0.3.0 SYFT_VERSION=v1.54.0

COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
DATE    := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
LDFLAGS := -s -w -X main.commit=$(COMMIT) -X main.date=$(DATE)
GO_DIRS := examples host odata plugins pluginsdk ui .ci
FUZZTIME ?= 20s
# Libraries that only compute, such as SQLite translated to Go, are built without
# the race detector: under it they take four to eight times as long, and what of
# ours meets in goroutines is still watched, SQLite's driver too.
PLAIN    := golang.org/x/crypto/... modernc.org/libc/... modernc.org/memory/... modernc.org/sqlite/lib/...
RACE     := -race $(PLAIN:%=-gcflags=%=-race=false)

.DEFAULT_GOAL := help
.PHONY: help build run demo test race fuzz faults bench bench-go bench-neighbours bench-people bench-timing test-cluster test-swagger-ui lint fmt generate verify setup ui ui-dev ui-size screens vuln notices release image test-release test-manifests clean ui5 ui5-run ui5-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the host and the first-party plugins into bin/, without cgo
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./host/cmd/vestibule $(addprefix ./,$(wildcard plugins/*))

run: build ## make the demo's data when missing, and serve the demo
	@go run ./examples/shop -db shop.db
	@echo "Mail lands in: mail/"
	@echo "To try, as soon as the address is printed below:"
	@echo "  http://127.0.0.1:8080/dashboard  (sign in with the demo account)"
	@echo "  curl 'http://127.0.0.1:8080/odata/Products?\$$orderby=name&\$$count=true'"
	@exec bin/vestibule serve

test: ## run all tests, after installing what they need where this user may
	@RACE='$(RACE)' .ci/test

race: ## run the Go tests with the race detector, and nothing else
	CGO_ENABLED=1 go test $(RACE) -count=1 ./...

fuzz: ## fuzz every parser, and the four OData engines against each other, for FUZZTIME (20s) each
	@set -e; for pkg in $$(go list ./...); do \
		for name in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$name"; go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done
	DIFFERENTIAL_TIME=$(FUZZTIME) go test -count=1 -timeout 0 -run '^TestFourEnginesAgree$$' -v ./odata/odatatest

faults: ## print what people and operators meet for each fault of a plugin, and while one is killed every second for KILLS (60s)
	FAULTS=all KILLS=$(or $(KILLS),60s) go test -count=1 -timeout 60m -v -run '^Test(FaultTable|SignInsWhileTheDispenserIsKilled)$$' ./host/cmd/vestibule

bench: ## compare pages with handlers written by hand on the drivers of three databases (BENCH="-db postgres -only page"); exits 1 when a row falls short
	go run ./examples/bench $(BENCH)

bench-go: ## run the Go benchmarks beside the code
	go test -run '^$$' -bench . -benchmem ./...

bench-neighbours: ## attack a host over a million rows for NEIGHBOURS_TIME (1m) in each way, and print what an innocent client meets
	NEIGHBOURS_TIME=$(or $(NEIGHBOURS_TIME),1m) REQUIRE_DB=1 go test -count=1 -timeout 60m -v -run '^TestNeighbours$$' ./examples/neighbours

bench-people: ## sign in, visit and leave with PEOPLE (1000000) sessions in the tables of each database, and follow a standby; some 10 GB of disk, a quarter of an hour
	go run ./examples/bench -people $(or $(PEOPLE),1000000) $(BENCH)

bench-timing: ## print how long failed sign-ins of each kind take, and how often classifiers find out who is known (a quarter of an hour)
	go test -run '^$$' -bench '^BenchmarkFailedSignIn' -benchtime 40x ./host/...
	TIMING_GUESSES=$(or $(TIMING_GUESSES),2048) go test -count=1 -timeout 90m -v -run '^TestFailedSignInsTellNobodyApart$$' ./examples/neighbours

# Programs from here run as this user, for root as root and postgres: so it is no place
# where others may write, and root's is not its home, which postgres cannot enter.
PATRONI_ROOT ?= $(if $(filter 0,$(shell id -u)),/var/cache,$(or $(XDG_CACHE_HOME),$(HOME)/.cache))/vestibule-patroni/root
test-cluster: ## lose databases of three servers under load, PostgreSQL with Patroni 4 and Galera, and print a table (up to 15 minutes; root fills disks, too)
	.ci/patroni '$(patsubst %/,%,$(dir $(PATRONI_ROOT)))'
	CLUSTER=1 PATRONI_ROOT='$(PATRONI_ROOT)' go test -count=1 -timeout 15m -v -run '^TestCluster$$' ./examples/cluster

test-swagger-ui: ## open the demo's OpenAPI document in Swagger UI, in a browser (npm ci in examples/odata-clients first)
	SWAGGER_UI=1 REQUIRE_CLIENTS=1 REQUIRE_BROWSER=1 go test -count=1 -v -run '^TestSwaggerUI$$' ./examples/odata-clients

lint: ## golangci-lint, which has staticcheck in it, and actionlint for the workflows
	$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml
	$(GOLANGCI) run ./...

vuln: ## look for known vulnerabilities in what is linked
	$(GOVULNCHECK) ./...

fmt: ## format the Go code
	$(GOFUMPT) -l -w $(GO_DIRS)

generate: ## make the generated files again: protocol, references of the configuration and of the commands
	go generate ./...
	UPDATE=1 go test -count=1 -run '^TestGenerated' ./host/config ./host/cmd/vestibule

verify: ui/node_modules/.package-lock.json ## what must hold before a commit: format, lint, nothing generated left behind, go.mod tidy, layout
	@test -z "$$($(GOFUMPT) -l $(GO_DIRS) | tee /dev/stderr)" || { echo "make fmt would change these"; exit 1; }
	@$(MAKE) --no-print-directory lint generate
	cd ui && npm run --silent verify
	go mod tidy -diff
	go test -count=1 -run '^Test(Imports|EveryLayout|AlarmBells|ImportChain)' ./host
	git diff --exit-code

setup: ## install what the tests need, where this user may
	@missing=$$(mktemp) && .ci/setup "$$missing" && sed 's/^/missing: /' "$$missing"; rm -f "$$missing"

ui: ui/node_modules/.package-lock.json ## build the front-end app into ui/dist
	cd ui && npm run --silent build

ui-dev: ui/node_modules/.package-lock.json ## serve the front-end sources with a proxy to a running host
	cd ui && npm run --silent dev

ui-size: ui/node_modules/.package-lock.json ## print how much the first screen weighs
	cd ui && npm run --silent size

ui/node_modules/.package-lock.json: ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund
	@touch $@

UI5 := examples/ui5-dashboard
ui5: $(UI5)/dist/later.js ## build the OpenUI5 dashboard into its dist, which takes about a minute

$(UI5)/dist/later.js: $(UI5)/package-lock.json $(UI5)/build.mjs $(UI5)/ui5.yaml $(shell find $(UI5)/webapp -type f)
	cd $(UI5) && npm ci --no-audit --no-fund && npm run --silent build
	@touch $@

ui5-run: build ui5 ## serve the OpenUI5 dashboard over the demo's data
	@go run ./examples/shop -db shop.db
	@exec bin/vestibule serve -c $(UI5)/config.hcl

ui5-test: ui5 ui/node_modules/.package-lock.json ## look at the OpenUI5 dashboard through a real browser
	REQUIRE_BROWSER=1 REQUIRE_UI5=1 go test -count=1 ./$(UI5)

ui5-slow: ui5 ## print what the dashboard weighs until its first row, and its time on a slow network and processor
	UI5_SLOW=1 REQUIRE_BROWSER=1 REQUIRE_UI5=1 go test -count=1 -v -run '^TestDashboard$$/^weight$$' ./$(UI5)

screens: ui/node_modules/.package-lock.json ## take a picture of every screen into screens/, and those of the README into docs/figures
	SCREENS_DIR=$(CURDIR)/screens REQUIRE_BROWSER=1 go test -count=1 -run '^Test(Screens|ErrorPages|PicturesOfTheReadme)$$' ./ui/uitest
	for picture in screens/readme-*.png; do cp "$$picture" "docs/figures/$${picture#screens/readme-}"; done

notices: ## print the licences of all that is linked, as releases bring them
	@go run ./.ci/notices ./host/cmd/vestibule ./plugins/...

release: ## make archives, packages and images of the commit in bin/release, with SBOMs, sums, signature and notices
	@$(RELEASE_TOOLS) .ci/release/run

image: ## write the container image of the commit, for amd64 and arm64, into bin/images, without a daemon
	@.ci/release/images

test-release: ## release a tag twice, in clones, and verify it; start the image, and the installed package under a real systemd (as root)
	@$(RELEASE_TOOLS) .ci/release/test

test-manifests: ## hold docs/kubernetes against the schemas of Kubernetes 1.30, strictly (its validator takes minutes to compile, once)
	$(KUBECTL_VALIDATE) --version 1.30 docs/kubernetes

clean: ## remove what make made, but not the demo's data
	rm -rf bin screens

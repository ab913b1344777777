# `make help` lists what there is. Tools are pinned here and run by Go itself.
GOLANGCI    := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT     := go run mvdan.cc/gofumpt@v0.12.0
ACTIONLINT  := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7

COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
DATE    := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
LDFLAGS := -s -w -X main.commit=$(COMMIT) -X main.date=$(DATE)
GO_DIRS := examples host internal odata plugins pluginsdk ui .ci
FUZZTIME ?= 20s
# Libraries that only compute, such as SQLite translated to Go, are built without
# the race detector: under it they take four to eight times as long, and what of
# ours meets in goroutines is still watched, SQLite's driver too.
PLAIN    := golang.org/x/crypto/... modernc.org/libc/... modernc.org/memory/... modernc.org/sqlite/lib/...
RACE     := -race $(PLAIN:%=-gcflags=%=-race=false)

.DEFAULT_GOAL := help
.PHONY: help build run demo test nightly fuzz bench bench-large lint fmt generate verify ui release clean

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

demo: build internal/suites/identity/node_modules/.package-lock.json ## make run with a second factor, a company account and a UI5 application, which need Node.js 20 and npm (PORT=8080)
	@$(MAKE) --no-print-directory -C examples/ui5-dashboard build
	@exec examples/shop/demo.sh

internal/suites/identity/node_modules/.package-lock.json: internal/suites/identity/package-lock.json
	npm --prefix internal/suites/identity ci --no-audit --no-fund

test: ## run all tests, after installing what they need where this user may
	@RACE='$(RACE)' .ci/test

nightly: ## run what make test shortens: every racing pair on every database, and the tests that wait for half a minute
	RACING=all LONG=1 REQUIRE_DB=1 go test -count=1 -timeout 60m \
		-run '^Test(RacingPairs|ServerOfSevenConnections|FrozenProcessIsReplacedInTime|NoSignInFailsUnderKillsAndSwaps|SwapsLeaveNothingBehind|LastReleaseBesideThisOne|PasswordRests|ResetLetsANewBrowserIn|WritesUnderKills|CreatesExactlyOnce|GroupsShowWhatTheyCount)$$' \
		./host ./host/store/postgres ./host/pluginproc ./host/cmd/vestibule ./internal/suites/explorer

fuzz: ## fuzz every parser, and the four OData engines against each other, for FUZZTIME (20s) each
	@set -e; for pkg in $$(go list ./...); do \
		for name in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$name"; go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done
	DIFFERENTIAL_TIME=$(FUZZTIME) go test -count=1 -timeout 0 -run '^TestFourEnginesAgree$$' -v ./odata/odatatest

bench: ## compare pages with handlers written by hand on the drivers of three databases, and the proxy with Caddy and nginx, and start with a thousand tables (BENCH="-db postgres -only page"); exits 1 when a row falls short
	go run ./internal/bench $(BENCH)
	$(if $(BENCH),,go run ./internal/bench -edge)
	$(if $(BENCH),,go run ./internal/bench -wide)
	$(if $(BENCH),,go test -run '^$$' -bench '^BenchmarkPasskeySignIn$$' ./host)

bench-large: ## load LARGE_ROWS (100000000) rows into PostgreSQL under LARGE_DIR and ask for them through the real program, then through PgBouncer; goes on where the last run ended; at most 30 GB of disk, an hour or more (LARGE="-disk 20 -only hash")
	go run ./internal/bench -large -rows $(or $(LARGE_ROWS),100000000) -dir $(or $(LARGE_DIR),/var/tmp/vestibule-large) $(LARGE)

lint: ## golangci-lint, which has staticcheck in it, and actionlint for the workflows
	$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml
	$(GOLANGCI) run ./...

fmt: ## format the Go code
	$(GOFUMPT) -l -w $(GO_DIRS)

generate: ## make the generated files again: protocol, references of the configuration and of the commands
	go generate ./...
	UPDATE=1 go test -count=1 -run '^TestGenerated' ./host/config ./host/cmd/vestibule

verify: ui/node_modules/.package-lock.json ## what must hold before a commit: format, lint, words, nothing generated left behind, go.mod tidy, layout
	@test -z "$$($(GOFUMPT) -l $(GO_DIRS) | tee /dev/stderr)" || { echo "make fmt would change these"; exit 1; }
	@go run ./.ci/words
	@$(MAKE) --no-print-directory lint generate
	cd ui && npm run --silent verify
	go mod tidy -diff
	go test -count=1 -run '^Test(Imports|EveryLayout|AlarmBells|ImportChain)' ./host
	git diff --exit-code

ui: ui/node_modules/.package-lock.json ## build the front-end app into ui/dist
	cd ui && npm run --silent build

ui/node_modules/.package-lock.json: ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund
	@touch $@

release: ## make archives, packages and images of the commit in bin/release, with SBOMs, sums, signature and notices
	@$(MAKE) --no-print-directory -C .ci/release archives

clean: ## remove what make made, but not the demo's data
	rm -rf bin screens

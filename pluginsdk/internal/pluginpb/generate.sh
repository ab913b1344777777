#!/bin/sh
# Makes the Go code of the plugin protocol. Every tool is pinned and built by
# Go itself, so the result is the same on every machine.
set -eu
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
GOBIN=$tools go install github.com/jhump/goprotoc/cmd/goprotoc@v0.5.0
GOBIN=$tools go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$tools go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
module=module=github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb
PATH=$tools:$PATH goprotoc --proto_path=../../proto \
	--go_out="$module:." --go-grpc_out="$module:." vestibule/plugin/v1/plugin.proto

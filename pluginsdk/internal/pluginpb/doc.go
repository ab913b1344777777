// Package pluginpb is Go code generated from pluginsdk/proto. Only
// pluginsdk/convert.go and its neighbours know it; nothing outside pluginsdk can
// import it. "go generate ./pluginsdk/internal/pluginpb" makes it anew, without
// any tool but Go.
package pluginpb

//go:generate ./generate.sh

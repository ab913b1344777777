// Package sdktest is the one suite that the SDKs of other languages pass: the
// values, answers and errors that authors meet, over a real connection.
//
// What lives elsewhere: what any plugin must do is pluginsdk/conformance.
package sdktest

//go:build !linux

package main

import "errors"

// apart is for Linux alone, where a process outlives its first thread.
func apart(*fault) { fail(errors.New("the first thread cannot end by itself here")) }

//go:build !race

package seed_test

const slow = false

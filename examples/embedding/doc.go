// Command embedding is a Go application that has Vestibule's sign-in inside it:
// its own gorilla/mux routes, its options in code, and no config.hcl.
//
// The sign-in finds the application's routes by their names: "home" is where
// people go when they sign out, and "dashboard" when they have signed in.
// Start reading at app.go; main.go only listens.
package main

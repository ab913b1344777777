// Package manual writes what shells and people are told of a command: completions
// for bash, zsh and fish, and pages for man(1). All of it is made from one tree of
// commands and flags, so that it says what the program does and nothing else.
//
// What lives elsewhere: the tree is made from the program's own tables, in package
// main. Start reading at [Command], then [Completion] and [Pages].
package manual

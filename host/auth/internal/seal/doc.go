// Package seal encrypts what a browser keeps for the host in a cookie. [Box] binds each text to its use.
//
// What lives elsewhere: the cookies themselves are host/auth. Start reading at seal.go.
package seal

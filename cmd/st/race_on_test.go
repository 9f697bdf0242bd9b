//go:build race

package main

// raced says that the tests run with the race detector.
const raced = true

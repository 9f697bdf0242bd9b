//go:build !linux

package main

// kernelChecks: none here. What Linux limits by inotify is limited by open files elsewhere.
func kernelChecks() []check { return nil }

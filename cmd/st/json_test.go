//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// json PATH [REGEX]: what the last stdout, one JSON object and nothing else, holds at a path such as
// data.workers.0.name matches the whole of REGEX; without REGEX it is there and not null.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: json PATH [REGEX]")
	}
	out := ts.ReadFile("stdout")
	var object map[string]any
	dec := json.NewDecoder(strings.NewReader(out))
	ts.Check(dec.Decode(&object))
	if dec.More() {
		ts.Fatalf("more than one object: %s", out)
	}
	value, ok := at(object, strings.Split(args[0], "."))
	if ok && len(args) == 2 {
		re, err := regexp.Compile("^(?s:" + args[1] + ")$")
		ts.Check(err)
		ok = re.MatchString(text(value))
	}
	if ok == neg {
		ts.Fatalf("%s is %s in %s", args[0], text(value), out)
	}
}

func at(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, v != nil
	}
	switch v := v.(type) {
	case map[string]any:
		return at(v[path[0]], path[1:])
	case []any:
		if path[0] == "len" {
			return len(v), true
		}
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(v) {
			return nil, false
		}
		return at(v[i], path[1:])
	}
	return nil, false
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case nil, bool, int:
		return fmt.Sprint(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

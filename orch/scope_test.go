package orch

import "testing"

func TestScopeAllows(t *testing.T) {
	for _, c := range []struct {
		scope   Scope
		in, out []string
	}{
		{nil, []string{"a", "b/c"}, nil},
		{Scope{"api/**"}, []string{"api/x.go", "api/a/b/c", "api"}, []string{"web/x", "apix", "x/api/y", "API/x.go", "."}},
		{Scope{"api"}, []string{"api/x.go", "api"}, []string{"api2/x", "a"}},
		{Scope{"api/**", "!api/gen/**"}, []string{"api/x", "api/generic"}, []string{"api/gen/x", "api/gen", "api/gen/a/b"}},
		{Scope{"api/**", "!api/gen/**", "api/gen/keep.go"}, []string{"api/gen/keep.go"}, []string{"api/gen/x"}},
		{Scope{"!secrets/**"}, []string{"a", "b/c"}, []string{"secrets/x"}},
		{Scope{"*.md"}, []string{"README.md"}, []string{"docs/a.md"}},
		{Scope{"**/*.md"}, []string{"README.md", "docs/a.md"}, []string{"a.go"}},
		{Scope{"{web,api}/*.go"}, []string{"web/a.go", "api/b.go"}, []string{"web/x/a.go", "cli/a.go"}},
		{Scope{"**", "!.github/**"}, []string{"x", "a/b"}, []string{".github/workflows/ci.yml"}},
	} {
		for _, p := range c.in {
			if !c.scope.Allows(p) {
				t.Errorf("%v does not allow %s", c.scope, p)
			}
		}
		for _, p := range c.out {
			if c.scope.Allows(p) {
				t.Errorf("%v allows %s", c.scope, p)
			}
		}
	}
}

func TestScopeCovers(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		dir   string
		want  bool
	}{
		{Scope{"api/**"}, "api", true}, {Scope{"api/**"}, "api/a", true}, {Scope{"api"}, "api", true}, {Scope{"api/**"}, ".", false},
		{Scope{"api/*.go"}, "api", false}, {Scope{"**"}, ".", true}, {Scope{"**"}, "a/b", true}, {Scope{"**/*.go"}, "a", false},
		{Scope{"api/**", "!api/gen/**"}, "api", false}, {Scope{"api/**", "!api/gen/**"}, "api/a", true}, {Scope{"api/**", "!api/gen/**"}, "api/gen", false},
		{Scope{"api/**", "!web/**"}, "api", true}, {Scope{"api/**", "!**/*.pb.go"}, "api", false}, {Scope{"!secrets/**"}, "src", true},
		{Scope{"!secrets/**"}, ".", false}, {nil, ".", true}, {Scope{"a/*/c/**"}, "a/b/c", true}, {Scope{"a/*/c/**"}, "a/b", false},
	} {
		if got := c.scope.Covers(c.dir); got != c.want {
			t.Errorf("%v covers %s: %v", c.scope, c.dir, got)
		}
	}
}

func TestScopeOverlaps(t *testing.T) {
	for _, c := range []struct {
		a    Scope
		da   string
		b    Scope
		db   string
		want bool
	}{
		{Scope{"api/**"}, "/p", Scope{"web/**"}, "/p", false},
		{Scope{"api/**"}, "/p", Scope{"api/x/*.go"}, "/p", true},
		{Scope{"api/**"}, "/p", Scope{"api"}, "/p", true},
		{Scope{"api/**"}, "/p", Scope{"api/**"}, "/q", false},
		{Scope{"api/**"}, "/p", Scope{"**"}, "/p/api", true},
		{Scope{"web/**"}, "/p", Scope{"**"}, "/p/api", false},
		{Scope{"**/*.go"}, "/p", Scope{"api/**"}, "/p", true},
		{Scope{"*.go"}, "/p", Scope{"*.md"}, "/p", false},
		{Scope{"**/*.go"}, "/p", Scope{"**/*.md"}, "/p", true}, // a folder may have any name
		{Scope{"api/**", "!api/gen/**"}, "/p", Scope{"api/gen/**"}, "/p", false},
		{Scope{"api/**", "!api/gen/**", "api/gen/a"}, "/p", Scope{"api/gen/**"}, "/p", true},
		{Scope{"!secrets/**"}, "/p", Scope{"api/**"}, "/p", true},
		{nil, "/p", Scope{"api/**"}, "/p", true},
		{Scope{"a/x*"}, "/p", Scope{"a/y*"}, "/p", false},
	} {
		if got := c.a.overlaps(c.da, c.b, c.db); got != c.want {
			t.Errorf("%v in %s and %v in %s: %v", c.a, c.da, c.b, c.db, got)
		}
		if got := c.b.overlaps(c.db, c.a, c.da); got != c.want {
			t.Errorf("%v in %s and %v in %s, the other way: %v", c.b, c.db, c.a, c.da, got)
		}
	}
}

func TestReadScope(t *testing.T) {
	s, err := ReadScope([]string{"./api/", "!api/gen/**", "a b/*.go"})
	if err != nil || s.String() != "api !api/gen/** a b/*.go" {
		t.Errorf("%q %v", s, err)
	}
	for _, bad := range []string{"", "!", "/etc/**", "~/x", "../x", "a/../../b", "a[", "a{b", "a\nb", "/", "./"} {
		if _, err := ReadScope([]string{bad}); err == nil || err.Code != "usage" {
			t.Errorf("%q is taken: %v", bad, err)
		}
	}
}

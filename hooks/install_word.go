package hooks

import (
	"path/filepath"
	"strings"
)

// hookProgram is the program of a hook command that some st wrote for a kind, "" for a foreign command. An st is
// known by its name: st, st with something behind it (st-0.1, st.old), or how this one is called.
func hookProgram(command, kind, self string) string {
	word, ok := strings.CutSuffix(strings.TrimSpace(command), " hook "+kind)
	if !ok {
		return ""
	}
	program := plainText(strings.TrimSpace(word))
	base := filepath.Base(filepath.ToSlash(program))
	if program == "" || base != filepath.Base(self) && !isSt(base) {
		return ""
	}
	return program
}

func isSt(base string) bool {
	base = strings.TrimSuffix(base, ".exe")
	return base == "st" || strings.HasPrefix(base, "st-") || strings.HasPrefix(base, "st.")
}

// plainText is the text of one word of a shell, "" where it is more than that.
func plainText(word string) string {
	text := word
	if n := len(word); n > 1 && word[0] == '\'' && word[n-1] == '\'' {
		text = strings.ReplaceAll(word[1:n-1], `'\''`, "'")
	} else if n > 1 && word[0] == '"' && word[n-1] == '"' {
		text = word[1 : n-1]
		word = ShellWord(text)
	}
	if ShellWord(text) != word && "'"+text+"'" != word {
		return ""
	}
	return text
}

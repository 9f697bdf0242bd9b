package hooks

import "strings"

// codexEntry is a numbered entry of a dialog: its name, and perhaps what it means, further right.
var codexEntry = pattern(`^ {0,2}(?:› |  )[0-9]+\. (\S.*?)(?:  .*)?$`)

// codexDetail says what the dialog asks whose title stands in row top.
func codexDetail(screen string, rows []string, top int) string {
	text, entries := codexBody(rows[top+1:])
	switch screen {
	case Permission:
		return codexPermits(strings.TrimSpace(rows[top]), text)
	case Question:
		return detail(strings.Join(text, " "), options(codexOffers(entries)))
	case Limit:
		return detail(strings.Join(text, " "), options(entries))
	case Trust:
		return detail(text[:min(1, len(text))]...)
	case Review:
		return detail(text[:min(1, len(text))]...)
	case Update:
		return detail(rows[top])
	}
	return ""
}

// codexBody is the text of a dialog over its entries, and the names of these.
func codexBody(rows []string) (text, entries []string) {
	for _, r := range rows {
		if m := codexEntry().FindStringSubmatch(r); m != nil {
			entries = append(entries, m[1])
		} else if len(entries) == 0 && r != "" {
			text = append(text, r)
		}
	}
	return text, entries
}

// codexPermits is the command, from its prompt sign on; else what the dialog asks, and of what.
func codexPermits(title string, text []string) string {
	for i, r := range text {
		if strings.HasPrefix(r, "  $ ") {
			return detail(text[i:]...)
		}
	}
	return detail(append([]string{title}, text...)...)
}

// codexOffers are a question's entries without the one that every question has.
func codexOffers(entries []string) (own []string) {
	for _, e := range entries {
		if e != "None of the above" {
			own = append(own, e)
		}
	}
	return own
}

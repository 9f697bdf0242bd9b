package hooks

import "strings"

// claudeEntry is a numbered entry of a dialog, a box to tick perhaps before its name.
var claudeEntry = pattern(`^ *(?:❯ )?[0-9]+\. (?:\[.\] )?(.*)`)

// claudeBox begins the dashed rules around what is to be permitted.
const claudeBox = "╌╌╌╌╌╌╌╌"

// claudeDetail says what a dialog asks, in which the cursor stands on the entry in row y.
func claudeDetail(screen string, rows []string, y int) string {
	text, entries := claudeBody(rows, y)
	switch screen {
	case Permission:
		return claudePermits(text)
	case Question:
		return detail(strings.Join(claudeAsked(text), " "), options(claudeOffers(entries)))
	case Limit:
		return detail(options(entries))
	case Trust:
		return detail(paragraphs(text, 2)...)
	case Servers:
		return detail(paragraphs(text, 1)...)
	}
	return ""
}

// claudeBody is the text of a dialog from its rule to its first entry, and the names of its entries.
func claudeBody(rows []string, y int) (text, entries []string) {
	first := claudeFirstEntry(rows, y)
	text = claudeUnderRule(rows, first)
	for _, r := range rows[first:] {
		if m := claudeEntry().FindStringSubmatch(r); m != nil {
			entries = append(entries, m[1])
		}
	}
	return text[:len(text)-1], entries
}

// claudeFirstEntry is the row of the entry that has the number 1, y where there is none. Between it and the
// entry in row y there may be a rule: the last of a question's entries stands under one of its own.
func claudeFirstEntry(rows []string, y int) int {
	rules := 0
	for i := y; i >= 0 && rules < 2; i-- {
		switch {
		case claudeFirst().MatchString(rows[i]):
			return i
		case claudeIsRule(rows[i]):
			rules++
		}
	}
	return y
}

// claudeAsked is a question's text without the row of tabs over it.
func claudeAsked(text []string) []string {
	for i, r := range text {
		if t := strings.TrimSpace(r); t != "" {
			if strings.HasPrefix(t, "☐") || strings.HasPrefix(t, "←") || strings.HasPrefix(t, "☒") {
				return text[i+1:]
			}
			return text[i:]
		}
	}
	return nil
}

// claudeOffers are a question's entries without those that every question has.
func claudeOffers(entries []string) (own []string) {
	for _, e := range entries {
		if !strings.HasPrefix(e, "Type something") && e != "Chat about this" {
			own = append(own, e)
		}
	}
	return own
}

// claudePermits names the tool, which is the dialog's title, and what it would do: the file that the row under
// the title names, else what stands in the dashed box, else all the dialog says.
func claudePermits(text []string) string {
	title, rest := "", text
	for i, r := range text {
		if title = strings.TrimSpace(r); title != "" {
			rest = text[i+1:]
			break
		}
	}
	box := claudeBoxed(rest)
	switch {
	case box == nil:
		return detail(append([]string{title}, rest...)...)
	case strings.HasSuffix(title, " file") && len(box) < len(rest) && !strings.HasPrefix(rest[0], claudeBox):
		return detail(title+":", rest[0])
	}
	return detail(append([]string{title + ":"}, box...)...)
}

// claudeBoxed are the rows between the first dashed rule and the next, nil without one.
func claudeBoxed(rows []string) (box []string) {
	inside := false
	for _, r := range rows {
		if strings.HasPrefix(strings.TrimSpace(r), claudeBox) {
			if inside {
				return box
			}
			inside, box = true, []string{}
			continue
		}
		if inside {
			box = append(box, r)
		}
	}
	return box
}

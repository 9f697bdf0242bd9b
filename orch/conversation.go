package orch

import (
	"crypto/sha256"
	"encoding/hex"
)

// conversationOf names the conversation of a program that takes a name for it, in the form of a UUID (version 8, RFC 9562). It
// is of the agent's secret, so no two are alike, and doesn't tell it.
func conversationOf(nonce string) string {
	sum := sha256.Sum256([]byte("conversation " + nonce))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

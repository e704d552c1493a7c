// UTF-8 (RFC 3629), one character at a time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_UTF8_H_
#define PARTITA_GRAPH_UTF8_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

inline constexpr uint32_t kMaxCodePoint = 0x10ffff;

// True for a Unicode character: not a surrogate, not above kMaxCodePoint.
bool IsCodePoint(uint32_t code);
// Removes the first character from `text` and returns it. Nothing if it is not
// well-formed.
std::optional<uint32_t> TakeCodePoint(absl::string_view& text);
void AppendCodePoint(uint32_t code, std::string& text);
// The text with U+FFFD in place of each byte that is not well-formed. Used to
// write names with arbitrary bytes as UTF-8.
std::string ValidUtf8(absl::string_view text);

}  // namespace partita

#endif  // PARTITA_GRAPH_UTF8_H_

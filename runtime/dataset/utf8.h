// UTF-8 (RFC 3629), one character at a time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_UTF8_H_
#define PARTITA_RUNTIME_DATASET_UTF8_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

inline constexpr uint32_t kMaxCodePoint = 0x10ffff;

// A Unicode character: no surrogate, none beyond kMaxCodePoint.
bool IsCodePoint(uint32_t code);
// Cuts the first character off `text`, or nothing if it is not well-formed.
std::optional<uint32_t> TakeCodePoint(absl::string_view& text);
void AppendCodePoint(uint32_t code, std::string& text);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_UTF8_H_

// Decoding refuses what RFC 3629 does: overlong forms, surrogates, truncation.
// SPDX-License-Identifier: Apache-2.0

#include "graph/utf8.h"

#include <cstddef>

namespace partita {
namespace {

struct Form {
  uint32_t least;  // the smallest code with this many bytes
  uint8_t mask;    // of the first byte's fixed bits
  uint8_t lead;    // their values
};
constexpr Form kForms[] = {{0, 0x80, 0x00},
                           {0x80, 0xe0, 0xc0},
                           {0x800, 0xf0, 0xe0},
                           {0x10000, 0xf8, 0xf0}};

constexpr uint32_t kReplacement = 0xfffd;

}  // namespace

bool IsCodePoint(uint32_t code) {
  return code <= kMaxCodePoint && (code < 0xd800 || code > 0xdfff);
}

std::optional<uint32_t> TakeCodePoint(absl::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  for (size_t more = 0; more < 4; ++more) {
    const Form& form = kForms[more];
    if ((byte(0) & form.mask) != form.lead) continue;
    if (text.size() <= more) return std::nullopt;
    uint32_t code = byte(0) & ~form.mask & 0xff;
    for (size_t i = 1; i <= more; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
      code = code << 6 | (byte(i) & 0x3f);
    }
    if (code < form.least || !IsCodePoint(code)) return std::nullopt;
    text.remove_prefix(more + 1);
    return code;
  }
  return std::nullopt;
}

void AppendCodePoint(uint32_t code, std::string& text) {
  size_t more = 3;
  while (more > 0 && code < kForms[more].least) --more;
  text.push_back(static_cast<char>(kForms[more].lead | code >> (6 * more)));
  while (more-- > 0) {
    text.push_back(static_cast<char>(0x80 | (code >> (6 * more) & 0x3f)));
  }
}

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const absl::string_view before = text;
    if (TakeCodePoint(text).has_value()) {
      valid.append(before.data(), before.size() - text.size());
    } else {
      AppendCodePoint(kReplacement, valid);
      text.remove_prefix(1);
    }
  }
  return valid;
}

}  // namespace partita

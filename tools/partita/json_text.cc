// Escapes what nlohmann does not.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/json_text.h"

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "graph/utf8.h"

namespace partita {

std::string JsonText(const nlohmann::ordered_json& json) {
  const std::string dumped = json.dump(
      2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  absl::string_view rest = dumped;
  while (!rest.empty()) {
    const absl::string_view before = rest;
    const uint32_t code = *TakeCodePoint(rest);
    if (code >= 0x7f && code < 0xa0) {
      absl::StrAppendFormat(&text, "\\u%04x", code);
    } else {
      text.append(before.data(), before.size() - rest.size());
    }
  }
  return text + "\n";
}

}  // namespace partita

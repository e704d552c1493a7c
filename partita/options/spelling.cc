// Flags with dashes, keys with equals signs.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/spelling.h"

#include "absl/strings/str_cat.h"

namespace partita {

std::string Spelled(Spelling spelling, absl::string_view option) {
  return absl::StrCat(spelling == Spelling::kFlags ? "--" : "", option);
}

std::string Spelled(Spelling spelling, absl::string_view option,
                    absl::string_view value) {
  return absl::StrCat(Spelled(spelling, option),
                      spelling == Spelling::kFlags ? " " : "=", value);
}

std::string SpelledSwitch(Spelling spelling, absl::string_view option) {
  return spelling == Spelling::kFlags ? Spelled(spelling, option)
                                      : Spelled(spelling, option, "true");
}

std::string OperandName(Spelling spelling) {
  return spelling == Spelling::kFlags ? "the operand" : "the model";
}

}  // namespace partita

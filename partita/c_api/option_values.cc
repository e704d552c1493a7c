// Reads values of options.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/option_values.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"

namespace partita::c_api {

absl::Status BadValue(absl::string_view found, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", found.empty() ? "no value" : found, "; expected ", expected));
}

absl::StatusOr<int64_t> ReadInteger(absl::string_view value, int64_t least,
                                    int64_t most) {
  int64_t number = 0;
  if (absl::SimpleAtoi(value, &number) && number >= least && number <= most) {
    return number;
  }
  return BadValue(value, absl::StrCat("an integer in ", least, "..", most));
}

absl::StatusOr<bool> ReadBool(absl::string_view value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return BadValue(value, "true or false");
}

absl::StatusOr<size_t> ReadChoice(absl::string_view value,
                                  absl::Span<const std::string> choices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == value) return i;
  }
  return BadValue(value, absl::StrCat("one of: ", absl::StrJoin(choices, ", "),
                                      NearestName(value, choices)));
}

absl::StatusOr<std::pair<std::string, std::string>> ReadBinding(
    absl::string_view value, bool may_be_empty) {
  const size_t equals = value.rfind('=');
  const bool is_binding = equals != absl::string_view::npos && equals > 0 &&
                          (may_be_empty || equals + 1 < value.size());
  if (!is_binding) return BadValue(value, "NAME=VALUE");
  return std::make_pair(std::string(value.substr(0, equals)),
                        std::string(value.substr(equals + 1)));
}

absl::StatusOr<std::vector<int64_t>> ReadIntegers(absl::string_view value) {
  std::vector<int64_t> numbers;
  if (value.empty()) return numbers;
  for (absl::string_view part : absl::StrSplit(value, absl::ByAnyChar(",x"))) {
    if (absl::SimpleAtoi(part, &numbers.emplace_back())) continue;
    return BadValue(value, "integers, as in 1,3,224,224");
  }
  return numbers;
}

absl::StatusOr<std::vector<Number>> ReadNumbers(absl::string_view value) {
  std::vector<Number> numbers;
  if (value.empty()) return numbers;  // an input without elements
  for (absl::string_view part : absl::StrSplit(value, ',')) {
    if (ParseNumber(absl::StripAsciiWhitespace(part), numbers.emplace_back())) {
      continue;
    }
    return BadValue(value, "numbers, as in 1,2.5");
  }
  return numbers;
}

std::string NearestName(absl::string_view name,
                        absl::Span<const std::string> names) {
  const std::optional<std::string> meant = ProbablyMeant(name, names);
  if (!meant.has_value()) return "";
  return absl::StrCat("; did you mean ", *meant, "?");
}

}  // namespace partita::c_api

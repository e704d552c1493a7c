// Joins and rounds.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/channel_numbers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text/number_text.h"

namespace partita {

std::vector<float> ToFloats(absl::Span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

std::string DoublesText(absl::Span<const double> numbers) {
  return absl::StrJoin(numbers, ",", [](std::string* text, double number) {
    absl::StrAppend(text, DoubleText(number));
  });
}

}  // namespace partita

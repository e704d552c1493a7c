// The text of arithmetics, read from its end.
// SPDX-License-Identifier: Apache-2.0

#include "graph/arithmetic.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace partita {
namespace {

constexpr absl::string_view kRelaid = " in layouts of its own";
constexpr absl::string_view kTiles = " tiles not ieee";
constexpr absl::string_view kEpilogue = " epilogue not ieee";
constexpr absl::string_view kDenormals = " denormals not ieee";
constexpr absl::string_view kThreads = " threads ";
constexpr absl::string_view kRounded = " rounded to ";
constexpr absl::string_view kSeparator = " | ";

// Takes " rounded to f16" off the end.
std::optional<DType> TakeRounding(absl::string_view& text) {
  const size_t at = text.rfind(kRounded);
  if (at == text.npos) return std::nullopt;
  const std::optional<DType> dtype =
      ParseDType(text.substr(at + kRounded.size()));
  if (dtype.has_value()) text = text.substr(0, at);
  return dtype;
}

// Takes " threads 2" off the end.
int TakeThreads(absl::string_view& text) {
  const size_t at = text.rfind(kThreads);
  if (at == text.npos) return 0;
  const absl::string_view digits = text.substr(at + kThreads.size());
  int threads = 0;
  if (!absl::SimpleAtoi(digits, &threads) || threads <= 0 ||
      absl::StrCat(threads) != digits) {
    return 0;
  }
  text = text.substr(0, at);
  return threads;
}

}  // namespace

std::string Arithmetic::ToString() const {
  std::string text = source;
  if (!implementation.empty()) absl::StrAppend(&text, " ", implementation);
  if (threads > 0) absl::StrAppend(&text, kThreads, threads);
  if (violates.tiles) absl::StrAppend(&text, kTiles);
  if (violates.epilogue) absl::StrAppend(&text, kEpilogue);
  if (violates.denormals) absl::StrAppend(&text, kDenormals);
  if (relaid) absl::StrAppend(&text, kRelaid);
  if (rounded_to.has_value()) {
    absl::StrAppend(&text, kRounded, DTypeName(*rounded_to));
  }
  return text;
}

Arithmetic Arithmetic::Parse(absl::string_view text) {
  Arithmetic a;
  a.rounded_to = TakeRounding(text);
  a.relaid = absl::ConsumeSuffix(&text, kRelaid);
  a.violates.denormals = absl::ConsumeSuffix(&text, kDenormals);
  a.violates.epilogue = absl::ConsumeSuffix(&text, kEpilogue);
  a.violates.tiles = absl::ConsumeSuffix(&text, kTiles);
  a.threads = TakeThreads(text);
  const size_t first = text.find(' ');
  const size_t second =
      first == text.npos ? text.npos : text.find(' ', first + 1);
  if (second == text.npos || second + 1 == text.size()) {
    a.source = std::string(text);
    return a;
  }
  a.source = std::string(text.substr(0, second));
  a.implementation = std::string(text.substr(second + 1));
  return a;
}

std::string ArithmeticsText(const Arithmetics& arithmetics) {
  return absl::StrJoin(arithmetics, kSeparator,
                       [](std::string* out, const Arithmetic& arithmetic) {
                         absl::StrAppend(out, arithmetic.ToString());
                       });
}

Arithmetics ParseArithmetics(absl::string_view text) {
  Arithmetics arithmetics;
  if (text.empty()) return arithmetics;
  for (absl::string_view one : absl::StrSplit(text, kSeparator)) {
    arithmetics.push_back(Arithmetic::Parse(one));
  }
  return arithmetics;
}

}  // namespace partita

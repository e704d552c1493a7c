// Exact names, and names with numbers at the end.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/register_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/ptx/parser.h"

namespace partita::ptx {
namespace {

bool EndsInDigit(absl::string_view name) {
  return !name.empty() &&
         absl::ascii_isdigit(static_cast<unsigned char>(name.back()));
}

struct SplitName {
  absl::string_view prefix;
  absl::string_view digits;
};
SplitName Split(absl::string_view name) {
  size_t length = name.size();
  while (length > 0 && EndsInDigit(name.substr(0, length))) --length;
  return {name.substr(0, length), name.substr(length)};
}

}  // namespace

std::string RegisterNames::Declare(absl::string_view name, Type type,
                                   std::optional<uint32_t> count) {
  const uint32_t added = count.value_or(1);
  if (added > kMostRegisters - count_) {
    return absl::StrCat("more than ", kMostRegisters, " registers");
  }
  Scope& scope = scopes_.back();
  const NamedRegister first = {count_, type};
  // Then a name belongs to one range, or to none.
  if (count.has_value() && EndsInDigit(name)) {
    return absl::StrCat("the range ", name, ", whose name ends in a digit");
  }
  const bool is_new =
      count.has_value()
          ? scope.ranges.try_emplace(std::string(name), Range{first, added})
                .second
          : scope.single.try_emplace(std::string(name), first).second;
  if (!is_new) return absl::StrCat("the register ", name, " declared again");
  count_ += added;
  return "";
}

std::optional<NamedRegister> RegisterNames::Find(absl::string_view name) const {
  const SplitName split = Split(name);
  uint32_t number = 0;
  // "01" is not a number of a range.
  const bool has_number =
      !split.digits.empty() &&
      (split.digits.size() == 1 || split.digits.front() != '0') &&
      absl::SimpleAtoi(split.digits, &number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto single = scope->single.find(name);
    if (single != scope->single.end()) return single->second;
    if (!has_number) continue;
    const auto range = scope->ranges.find(split.prefix);
    if (range == scope->ranges.end() || number >= range->second.count) continue;
    const NamedRegister& first = range->second.first;
    return NamedRegister{first.number + number, first.type};
  }
  return std::nullopt;
}

bool RegisterNames::Leave() {
  if (is_outside()) return false;
  scopes_.pop_back();
  return true;
}

}  // namespace partita::ptx

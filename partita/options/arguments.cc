// Reads the values of flags.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/arguments.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"

namespace partita {
namespace {

// In quotes if a shell would read it as anything but itself.
std::string ShellWord(const std::string& word) {
  constexpr absl::string_view kPlain = "_@%+=:,./-";
  const bool plain = absl::c_all_of(word, [&](char c) {
    return absl::ascii_isalnum(c) || kPlain.find(c) != kPlain.npos;
  });
  if (plain) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

constexpr absl::string_view kWrongCall = "partita/called_wrongly";

}  // namespace

absl::Status CalledWrongly(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kWrongCall, absl::Cord());
  return status;
}

bool IsCalledWrongly(const absl::Status& status) {
  return status.GetPayload(kWrongCall).has_value();
}

std::string NearestText(absl::string_view name,
                        const std::vector<std::string>& names,
                        absl::string_view dashes) {
  const std::optional<std::string> meant = ProbablyMeant(name, names);
  if (!meant.has_value()) return "";
  return absl::StrCat("; did you mean ", dashes, *meant, "?");
}

bool Arguments::has(absl::string_view flag) const {
  return absl::c_any_of(values_,
                        [&](const auto& given) { return given.first == flag; });
}

std::vector<std::string> Arguments::GetAll(absl::string_view flag) const {
  std::vector<std::string> all;
  for (const auto& [name, value] : values_) {
    if (name == flag) all.push_back(value);
  }
  return all;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
Arguments::GetBindings(absl::string_view flag, BindingValue value) const {
  std::vector<std::pair<std::string, std::string>> bindings;
  absl::flat_hash_set<std::string> names;
  for (const std::string& text : GetAll(flag)) {
    PARTITA_ASSIGN_OR_RETURN(auto binding,
                             SplitBinding(Named(flag), text, value));
    if (!names.insert(binding.first).second) {
      return CalledWrongly(absl::StrCat(Named(flag), ": found ", binding.first,
                                        " twice; expected one value for it"));
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

Arguments Arguments::WithOperand(const std::string& operand) const {
  Arguments changed = *this;
  changed.positional_ = {operand};
  return changed;
}

Arguments Arguments::With(absl::string_view flag,
                          const std::vector<std::string>& values) const {
  Arguments changed = *this;
  std::erase_if(changed.values_,
                [&](const auto& given) { return given.first == flag; });
  for (const std::string& value : values) {
    changed.values_.emplace_back(std::string(flag), value);
  }
  return changed;
}

std::string Arguments::Named(absl::string_view flag) const {
  return Spelled(spelling_, flag);
}

std::string Arguments::Named(absl::string_view flag,
                             absl::string_view value) const {
  return Spelled(spelling_, flag, value);
}

std::string Arguments::NamedSwitch(absl::string_view flag) const {
  return SpelledSwitch(spelling_, flag);
}

std::string Arguments::ShellText() const {
  std::vector<std::string> words;
  for (const std::string& word : positional_) words.push_back(ShellWord(word));
  for (const auto& [name, value] : values_) {
    words.push_back(absl::StrCat("--", name));
    if (!value.empty()) words.push_back(ShellWord(value));
  }
  return absl::StrJoin(words, " ");
}

std::string Arguments::Get(absl::string_view flag,
                           absl::string_view otherwise) const {
  const std::vector<std::string> all = GetAll(flag);
  return all.empty() ? std::string(otherwise) : all.back();
}

absl::StatusOr<int64_t> Arguments::GetInt(absl::string_view flag,
                                          int64_t otherwise, int64_t least,
                                          int64_t most) const {
  if (!has(flag)) return otherwise;
  int64_t value;
  const std::string text = Get(flag, "");
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= most) {
    return value;
  }
  return CalledWrongly(absl::StrCat(Named(flag), ": found ", text,
                                    "; expected an integer in ", least, "..",
                                    most));
}

absl::StatusOr<double> Arguments::GetDouble(absl::string_view flag,
                                            double otherwise) const {
  if (!has(flag)) return otherwise;
  double value = 0;
  const std::string text = Get(flag, "");
  const bool is_number = absl::SimpleAtod(text, &value);
  // The computation is in f32.
  using F32 = std::numeric_limits<float>;
  const bool in_f32 = value >= F32::denorm_min() && value <= F32::max();
  if (is_number && (value == 0 || in_f32)) return value;
  return CalledWrongly(
      absl::StrCat(Named(flag), ": found ", text,
                   "; expected a finite number that f32 has, not negative"));
}

absl::StatusOr<double> Arguments::GetBelow(absl::string_view flag,
                                           double otherwise,
                                           double bound) const {
  PARTITA_ASSIGN_OR_RETURN(const double value, GetDouble(flag, otherwise));
  if (static_cast<float>(value) < bound) return value;
  return CalledWrongly(absl::StrCat(Named(flag), ": found ", Get(flag, ""),
                                    "; expected a number below ", bound));
}

absl::StatusOr<std::pair<std::string, std::string>> SplitBinding(
    absl::string_view named, absl::string_view text, BindingValue value) {
  const size_t equals =
      value == BindingValue::kPath ? text.find('=') : text.rfind('=');
  const bool is_empty = equals + 1 == text.size();
  if (equals == absl::string_view::npos || equals == 0 ||
      (is_empty && value != BindingValue::kList)) {
    return CalledWrongly(
        absl::StrCat(named, ": found ", text, "; expected NAME=VALUE"));
  }
  return std::make_pair(std::string(text.substr(0, equals)),
                        std::string(text.substr(equals + 1)));
}

std::string BoundPath(const std::string& text) {
  return text.substr(text.find('=') + 1);
}

absl::StatusOr<std::vector<int64_t>> ParseInts(absl::string_view named,
                                               absl::string_view text) {
  std::vector<int64_t> values;
  if (text.empty()) return values;
  for (absl::string_view part : absl::StrSplit(text, absl::ByAnyChar(",x"))) {
    int64_t& value = values.emplace_back();
    if (absl::SimpleAtoi(part, &value)) continue;
    return CalledWrongly(absl::StrCat(
        named, ": found ", text, "; expected integers, as in 1,3,224,224"));
  }
  return values;
}

}  // namespace partita

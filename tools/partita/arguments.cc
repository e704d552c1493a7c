// Parses flags and shows them.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/arguments.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"

namespace partita {
namespace {

const FlagDef* Find(absl::Span<const FlagDef> flags, absl::string_view name) {
  for (const FlagDef& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

struct RenamedFlag {
  absl::string_view before;
  absl::string_view now;
};
constexpr RenamedFlag kRenamedFlags[] = {
    {"divided-updates", "sharded-updates"},
};

std::vector<std::string> NamesOf(absl::Span<const FlagDef> flags) {
  std::vector<std::string> names = {"help"};
  for (const FlagDef& flag : flags) names.push_back(flag.name);
  return names;
}

absl::Status Unknown(absl::string_view name, absl::Span<const FlagDef> flags) {
  if (name == "help")
    return CalledWrongly("--help: found a value; expected none");
  for (const RenamedFlag& flag : kRenamedFlags) {
    if (flag.before != name || Find(flags, flag.now) == nullptr) continue;
    return CalledWrongly(absl::StrCat("--", name,
                                      ": found the former name of --", flag.now,
                                      "; expected --", flag.now));
  }
  return CalledWrongly(absl::StrCat(
      "--", name, ": found no such flag; expected one of those that --help ",
      "lists", NearestText(name, NamesOf(flags), "--")));
}

absl::Status CheckChoice(const FlagDef& flag, const std::string& value) {
  if (flag.choices == nullptr) return absl::OkStatus();
  const std::vector<std::string> choices = flag.choices();
  if (absl::c_linear_search(choices, value)) return absl::OkStatus();
  return CalledWrongly(
      absl::StrCat("--", flag.name, ": found ", value, "; expected one of: ",
                   absl::StrJoin(choices, ", "), NearestText(value, choices)));
}

// A value with a name before it, as in "NAME=N".
absl::Status CheckForm(const FlagDef& flag, const std::string& value) {
  if (!absl::StrContains(flag.value, "=")) return absl::OkStatus();
  const size_t equals = value.find('=');
  if (equals != value.npos && equals > 0) return absl::OkStatus();
  return CalledWrongly(absl::StrCat("--", flag.name, ": found ", value,
                                    "; expected ", flag.value));
}

absl::Status CheckOnce(const FlagDef& flag, const Arguments& before,
                       const std::string& value) {
  if (flag.repeats || flag.value == nullptr || !before.has(flag.name)) {
    return absl::OkStatus();
  }
  return CalledWrongly(absl::StrCat("--", flag.name, ": found ",
                                    before.Get(flag.name, ""), " and ", value,
                                    "; expected one ", flag.value));
}

// The value of a flag written as `word`: after its "=", or the next of `words`
// unless that is a flag itself. "" if it takes none.
absl::StatusOr<std::string> TakeValue(const FlagDef& flag,
                                      absl::string_view word,
                                      absl::Span<const char* const>& words) {
  const size_t equals = word.find('=');
  const bool has_equals = equals != absl::string_view::npos;
  if (flag.value == nullptr) {
    if (!has_equals) return std::string();
    return CalledWrongly(
        absl::StrCat("--", flag.name, ": found a value; expected none"));
  }
  std::string value;
  if (has_equals) {
    value = std::string(word.substr(equals + 1));
  } else if (!words.empty() && !absl::StartsWith(words[0], "--")) {
    value = words[0];
    words.remove_prefix(1);
  }
  if (!value.empty()) return value;
  return CalledWrongly(
      absl::StrCat("--", flag.name, ": found no value; expected ", flag.value));
}

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

absl::StatusOr<Arguments> Arguments::Parse(absl::Span<const char* const> words,
                                           absl::Span<const FlagDef> flags) {
  Arguments arguments;
  while (!words.empty()) {
    absl::string_view word = words[0];
    words.remove_prefix(1);
    if (word == "-o") word = "--output";
    // A lone dash is a file name: standard input or output.
    if (word == "-" || word.substr(0, 1) != "-") {
      arguments.positional_.emplace_back(word);
      continue;
    }
    if (!absl::ConsumePrefix(&word, "--")) {
      return CalledWrongly(absl::StrCat(
          word, ": found no such flag; expected -o or one that --help lists",
          NearestText(word.substr(1), NamesOf(flags), "--")));
    }
    const absl::string_view name = word.substr(0, word.find('='));
    const FlagDef* flag = Find(flags, name);
    if (flag == nullptr) return Unknown(name, flags);
    PARTITA_ASSIGN_OR_RETURN(std::string value, TakeValue(*flag, word, words));
    PARTITA_RETURN_IF_ERROR(CheckChoice(*flag, value));
    PARTITA_RETURN_IF_ERROR(CheckForm(*flag, value));
    PARTITA_RETURN_IF_ERROR(CheckOnce(*flag, arguments, value));
    arguments.values_.emplace_back(std::string(name), std::move(value));
  }
  return arguments;
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
    PARTITA_ASSIGN_OR_RETURN(auto binding, SplitBinding(flag, text, value));
    if (!names.insert(binding.first).second) {
      return CalledWrongly(absl::StrCat("--", flag, ": found ", binding.first,
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
  return CalledWrongly(absl::StrCat("--", flag, ": found ", text,
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
      absl::StrCat("--", flag, ": found ", text,
                   "; expected a finite number that f32 has, not negative"));
}

absl::StatusOr<double> Arguments::GetBelow(absl::string_view flag,
                                           double otherwise,
                                           double bound) const {
  PARTITA_ASSIGN_OR_RETURN(const double value, GetDouble(flag, otherwise));
  if (static_cast<float>(value) < bound) return value;
  return CalledWrongly(absl::StrCat("--", flag, ": found ", Get(flag, ""),
                                    "; expected a number below ", bound));
}

std::string FlagsHelp(absl::Span<const FlagDef> flags) {
  std::string text;
  for (const FlagDef& flag : flags) {
    const std::string left =
        absl::StrCat("--", flag.name, flag.value == nullptr ? "" : " ",
                     flag.value == nullptr ? "" : flag.value);
    absl::StrAppendFormat(
        &text, "  %-26s %s\n", left,
        flag.full_doc == nullptr ? flag.doc : flag.full_doc(flag));
  }
  return text;
}

absl::StatusOr<std::pair<std::string, std::string>> SplitBinding(
    absl::string_view flag, absl::string_view text, BindingValue value) {
  const size_t equals =
      value == BindingValue::kPath ? text.find('=') : text.rfind('=');
  const bool is_empty = equals + 1 == text.size();
  if (equals == absl::string_view::npos || equals == 0 ||
      (is_empty && value != BindingValue::kList)) {
    return CalledWrongly(
        absl::StrCat("--", flag, ": found ", text, "; expected NAME=VALUE"));
  }
  return std::make_pair(std::string(text.substr(0, equals)),
                        std::string(text.substr(equals + 1)));
}

std::string BoundPath(const std::string& text) {
  return text.substr(text.find('=') + 1);
}

absl::StatusOr<std::vector<int64_t>> ParseInts(absl::string_view flag,
                                               absl::string_view text) {
  std::vector<int64_t> values;
  if (text.empty()) return values;
  for (absl::string_view part : absl::StrSplit(text, absl::ByAnyChar(",x"))) {
    int64_t& value = values.emplace_back();
    if (absl::SimpleAtoi(part, &value)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag, ": found ", text,
                     "; expected integers, as in 1,3,224,224"));
  }
  return values;
}

}  // namespace partita

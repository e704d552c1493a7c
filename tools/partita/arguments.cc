// Reading and showing flags.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/arguments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
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

absl::Status Unknown(absl::string_view name, absl::Span<const FlagDef> flags) {
  std::vector<std::string> names;
  for (const FlagDef& flag : flags) names.push_back(flag.name);
  std::string text = absl::StrCat("--", name, ": found no such flag; expected ",
                                  "one of those that --help lists");
  for (const std::string& close : ClosestNames(name, names, 1)) {
    absl::StrAppend(&text, "; did you mean --", close, "?");
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace

absl::StatusOr<Arguments> Arguments::Parse(absl::Span<const char* const> words,
                                           absl::Span<const FlagDef> flags) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::string_view word = words[i];
    if (word == "-o") word = "--output";
    // A lone dash is a file name: standard input or output.
    if (word == "-" || word.substr(0, 1) != "-") {
      arguments.positional_.emplace_back(word);
      continue;
    }
    if (word.substr(0, 2) != "--") {
      return absl::InvalidArgumentError(absl::StrCat(
          word, ": found no such flag; expected -o or one that --help lists"));
    }
    word.remove_prefix(2);
    const size_t equals = word.find('=');
    const absl::string_view name = word.substr(0, equals);
    const FlagDef* flag = Find(flags, name);
    if (flag == nullptr) return Unknown(name, flags);
    std::string value;
    if (equals != absl::string_view::npos) {
      if (flag->value == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, ": found a value; expected none"));
      }
      value = std::string(word.substr(equals + 1));
    } else if (flag->value != nullptr) {
      if (i + 1 == words.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--", name, ": found no value; expected ", flag->value));
      }
      value = words[++i];
    }
    arguments.values_.emplace(std::string(name), std::move(value));
  }
  return arguments;
}

bool Arguments::has(absl::string_view flag) const {
  return values_.find(std::string(flag)) != values_.end();
}

std::vector<std::string> Arguments::GetAll(absl::string_view flag) const {
  std::vector<std::string> all;
  const auto [first, last] = values_.equal_range(std::string(flag));
  for (auto it = first; it != last; ++it) all.push_back(it->second);
  return all;
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
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": found ", text,
                                                 "; expected an integer in ",
                                                 least, "..", most));
}

absl::StatusOr<double> Arguments::GetDouble(absl::string_view flag,
                                            double otherwise) const {
  if (!has(flag)) return otherwise;
  double value;
  const std::string text = Get(flag, "");
  if (absl::SimpleAtod(text, &value)) return value;
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": found ", text, "; expected a number"));
}

std::string FlagsHelp(absl::Span<const FlagDef> flags) {
  std::string text;
  for (const FlagDef& flag : flags) {
    const std::string left =
        absl::StrCat("--", flag.name, flag.value == nullptr ? "" : " ",
                     flag.value == nullptr ? "" : flag.value);
    absl::StrAppendFormat(&text, "  %-26s %s\n", left, flag.doc);
  }
  return text;
}

absl::StatusOr<std::pair<std::string, std::string>> SplitBinding(
    absl::string_view flag, absl::string_view text) {
  // The name may hold an equals sign, the value may not.
  const size_t equals = text.rfind('=');
  if (equals == absl::string_view::npos || equals == 0 ||
      equals + 1 == text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": found ", text, "; expected NAME=VALUE"));
  }
  return std::make_pair(std::string(text.substr(0, equals)),
                        std::string(text.substr(equals + 1)));
}

absl::StatusOr<std::vector<int64_t>> ParseInts(absl::string_view flag,
                                               absl::string_view text) {
  std::vector<int64_t> values;
  if (text.empty()) return values;
  for (absl::string_view part : absl::StrSplit(text, absl::ByAnyChar(",x"))) {
    int64_t& value = values.emplace_back();
    if (absl::SimpleAtoi(part, &value)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": found ", part,
                     "; expected integers, as in 1,3,224,224"));
  }
  return values;
}

}  // namespace partita

// Parses the words of a command line, and the keys of the C API.
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "partita/options/arguments.h"

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
  std::vector<std::string> names;
  for (const FlagDef& flag : flags) names.push_back(flag.name);
  return names;
}

std::string NearestFlag(absl::string_view name,
                        absl::Span<const FlagDef> flags) {
  std::vector<std::string> names = NamesOf(flags);
  names.insert(names.begin(), "help");
  return NearestText(name, names, "--");
}

absl::Status UnknownFlag(absl::string_view name,
                         absl::Span<const FlagDef> flags) {
  if (name == "help") {
    return CalledWrongly("--help: found a value; expected none");
  }
  return CalledWrongly(absl::StrCat(
      "--", name, ": found no such flag; expected one of those that --help ",
      "lists", NearestFlag(name, flags)));
}

absl::Status UnknownKey(absl::string_view name,
                        absl::Span<const FlagDef> flags) {
  const std::vector<std::string> keys = NamesOf(flags);
  return CalledWrongly(
      absl::StrCat(name, ": found no such option; expected one of: ",
                   absl::StrJoin(keys, ", "), NearestText(name, keys)));
}

absl::Status Unknown(absl::string_view name, absl::Span<const FlagDef> flags,
                     Spelling spelling) {
  for (const RenamedFlag& flag : kRenamedFlags) {
    if (flag.before != name || Find(flags, flag.now) == nullptr) continue;
    const std::string now = Spelled(spelling, flag.now);
    return CalledWrongly(absl::StrCat(Spelled(spelling, name),
                                      ": found the former name of ", now,
                                      "; expected ", now));
  }
  return spelling == Spelling::kFlags ? UnknownFlag(name, flags)
                                      : UnknownKey(name, flags);
}

absl::Status CheckChoice(const FlagDef& flag, const std::string& value,
                         absl::string_view named) {
  if (flag.choices == nullptr) return absl::OkStatus();
  const std::vector<std::string> choices = flag.choices();
  if (absl::c_linear_search(choices, value)) return absl::OkStatus();
  return CalledWrongly(
      absl::StrCat(named, ": found ", value, "; expected one of: ",
                   absl::StrJoin(choices, ", "), NearestText(value, choices)));
}

// A value with a name before it, as in "NAME=N".
absl::Status CheckForm(const FlagDef& flag, const std::string& value,
                       absl::string_view named) {
  if (!absl::StrContains(flag.value, "=")) return absl::OkStatus();
  const size_t equals = value.find('=');
  if (equals != value.npos && equals > 0) return absl::OkStatus();
  return CalledWrongly(
      absl::StrCat(named, ": found ", value, "; expected ", flag.value));
}

absl::Status NoValue(const FlagDef& flag, absl::string_view named) {
  return CalledWrongly(
      absl::StrCat(named, ": found no value; expected ", flag.value));
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
  return NoValue(flag, absl::StrCat("--", flag.name));
}

// What to add for a key; nullopt for a switch that is off.
absl::StatusOr<std::optional<std::string>> ValueOfKey(const FlagDef& flag,
                                                      std::string value) {
  if (flag.value != nullptr) {
    if (value.empty()) return NoValue(flag, flag.name);
    return value;
  }
  if (value == "true") return "";
  if (value == "false") return std::nullopt;
  return CalledWrongly(absl::StrCat(flag.name, ": found ",
                                    value.empty() ? "no value" : value,
                                    "; expected true or false"));
}

}  // namespace

absl::Status Arguments::Add(const FlagDef& flag, const std::string& value) {
  const std::string named = Named(flag.name);
  if (flag.value != nullptr) {
    PARTITA_RETURN_IF_ERROR(CheckChoice(flag, value, named));
    PARTITA_RETURN_IF_ERROR(CheckForm(flag, value, named));
    if (!flag.repeats && has(flag.name)) {
      return CalledWrongly(absl::StrCat(named, ": found ", Get(flag.name, ""),
                                        " and ", value, "; expected one ",
                                        flag.value));
    }
  }
  values_.emplace_back(flag.name, value);
  return absl::OkStatus();
}

absl::StatusOr<Arguments> Arguments::Parse(absl::Span<const char* const> words,
                                           absl::Span<const FlagDef> flags) {
  Arguments arguments(Spelling::kFlags);
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
          NearestFlag(word.substr(1), flags)));
    }
    const absl::string_view name = word.substr(0, word.find('='));
    const FlagDef* flag = Find(flags, name);
    if (flag == nullptr) return Unknown(name, flags, Spelling::kFlags);
    PARTITA_ASSIGN_OR_RETURN(const std::string value,
                             TakeValue(*flag, word, words));
    PARTITA_RETURN_IF_ERROR(arguments.Add(*flag, value));
  }
  return arguments;
}

absl::StatusOr<Arguments> Arguments::ParseKeys(
    const std::string& operand, absl::Span<const absl::string_view> options,
    absl::Span<const FlagDef> flags) {
  Arguments arguments(Spelling::kKeys);
  arguments.positional_ = {operand};
  absl::flat_hash_set<std::string> switches;
  for (const absl::string_view option : options) {
    const size_t equals = option.find('=');
    if (equals == absl::string_view::npos) {
      return CalledWrongly(
          absl::StrCat("option ", option,
                       ": found no =; expected KEY=VALUE, as in depth=2"));
    }
    const absl::string_view name = option.substr(0, equals);
    const FlagDef* flag = Find(flags, name);
    if (flag == nullptr) return Unknown(name, flags, Spelling::kKeys);
    PARTITA_ASSIGN_OR_RETURN(
        const std::optional<std::string> value,
        ValueOfKey(*flag, std::string(option.substr(equals + 1))));
    // One that is off is not stored, so Add does not find the second.
    if (flag->value == nullptr && !switches.insert(flag->name).second) {
      return CalledWrongly(
          absl::StrCat(name, ": found it twice; expected it once"));
    }
    if (!value.has_value()) continue;
    PARTITA_RETURN_IF_ERROR(arguments.Add(*flag, *value));
  }
  return arguments;
}

}  // namespace partita

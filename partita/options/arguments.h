// The flags of one call: declared once, and given as words of a command line or
// as keys through the C API.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_ARGUMENTS_H_
#define PARTITA_PARTITA_OPTIONS_ARGUMENTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "partita/options/file_kinds.h"
#include "partita/options/spelling.h"

namespace partita {

enum class FileUse : uint8_t {
  kNone,
  kReads,
  kReadsBound,   // as NAME=FILE
  kReadsFolder,  // files in it
  kWrites,
  kWritesModel,  // and its weights beside it, FILE.data, if they are large
};

// On a command line --name, --name VALUE or --name=VALUE; -o stands for
// --output. Through the C API name=VALUE; a switch is name=true or name=false.
struct FlagDef {
  const char* name;   // without dashes
  const char* value;  // "FILE", "N"; null for a switch
  const char* doc;    // one line of --help
  // The possible values; null if they are too many to list.
  std::vector<std::string> (*choices)() = nullptr;
  FileUse file = FileUse::kNone;  // how the file is used
  bool repeats = false;           // may be repeated; all values count
  // The line, if other declarations add to `doc`; null: `doc` is all of it.
  std::string (*full_doc)(const FlagDef& flag) = nullptr;
  FileKinds reads = {};  // of a flag whose file is read, or added to
  // Values that completion offers, where others are possible too.
  std::vector<std::string> (*offers)() = nullptr;
};

// Flags of one command on one topic.
struct FlagGroup {
  const char* heading;  // "placement"
  absl::Span<const FlagDef> flags;
};

// The flags of one command: lists that it shares with others, and its own. Each
// list is an array.
template <typename... Lists>
constexpr auto JoinFlags(const Lists&... lists) {
  std::array<FlagDef, (sizeof(Lists) + ...) / sizeof(FlagDef)> all = {};
  FlagDef* next = all.data();
  ((next = std::copy(std::begin(lists), std::end(lists), next)), ...);
  return all;
}

// InvalidArgument for an error of the caller, not of a file.
absl::Status CalledWrongly(absl::string_view message);
bool IsCalledWrongly(const absl::Status& status);

// The value of a "NAME=VALUE". A path may hold an equals sign, so the name
// before it must not; before others it may.
enum class BindingValue : uint8_t { kWord, kList, kPath };

// The operands and flags of one call. Errors name a flag as the caller spells
// it: "--depth: found ...", or "depth: found ..." for a key.
class Arguments {
 public:
  // CalledWrongly for an unknown flag, a missing, stray or second value, and a
  // value that is none of the choices; names the nearest.
  static absl::StatusOr<Arguments> Parse(absl::Span<const char* const> words,
                                         absl::Span<const FlagDef> flags);
  // The same for one operand and options KEY=VALUE, whose keys are the flags.
  static absl::StatusOr<Arguments> ParseKeys(
      const std::string& operand, absl::Span<const absl::string_view> options,
      absl::Span<const FlagDef> flags);

  const std::vector<std::string>& positional() const { return positional_; }
  bool has(absl::string_view flag) const;
  // The value given, or `otherwise`.
  std::string Get(absl::string_view flag, absl::string_view otherwise) const;
  std::vector<std::string> GetAll(absl::string_view flag) const;
  // Each "NAME=VALUE" as a pair; CalledWrongly for another text, and for a name
  // with two values.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> GetBindings(
      absl::string_view flag, BindingValue value = BindingValue::kWord) const;
  // The same arguments with exactly these values of a flag.
  Arguments With(absl::string_view flag,
                 const std::vector<std::string>& values) const;
  // The same arguments with one operand.
  Arguments WithOperand(const std::string& operand) const;
  Spelling spelling() const { return spelling_; }
  // For errors: the flag as the caller spells it (spelling.h).
  std::string Named(absl::string_view flag) const;
  std::string Named(absl::string_view flag, absl::string_view value) const;
  std::string NamedSwitch(absl::string_view flag) const;
  // The words, quoted for a shell.
  std::string ShellText() const;
  // In least..most; CalledWrongly otherwise.
  absl::StatusOr<int64_t> GetInt(absl::string_view flag, int64_t otherwise,
                                 int64_t least, int64_t most) const;
  // Finite and not negative; CalledWrongly otherwise.
  absl::StatusOr<double> GetDouble(absl::string_view flag,
                                   double otherwise) const;
  // The same, and less than `bound`.
  absl::StatusOr<double> GetBelow(absl::string_view flag, double otherwise,
                                  double bound) const;

 private:
  explicit Arguments(Spelling spelling) : spelling_(spelling) {}

  // Adds a value; CalledWrongly if the flag cannot have it, or not twice.
  absl::Status Add(const FlagDef& flag, const std::string& value);

  Spelling spelling_;
  std::vector<std::string> positional_;
  // Flag and value, empty for a switch, in the order given.
  std::vector<std::pair<std::string, std::string>> values_;
};

// "; did you mean X?", with dashes before it, if `name` looks like a typo of
// one of the names; otherwise "".
std::string NearestText(absl::string_view name,
                        const std::vector<std::string>& names,
                        absl::string_view dashes = "");

// "NAME=VALUE" as a pair; CalledWrongly otherwise. A list may be empty. `named`
// is the flag as its caller spells it, for errors.
absl::StatusOr<std::pair<std::string, std::string>> SplitBinding(
    absl::string_view named, absl::string_view text,
    BindingValue value = BindingValue::kWord);
// FILE of "NAME=FILE", BindingValue::kPath.
std::string BoundPath(const std::string& text);
// "1,3,640,640".
absl::StatusOr<std::vector<int64_t>> ParseInts(absl::string_view named,
                                               absl::string_view text);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_ARGUMENTS_H_

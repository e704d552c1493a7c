// Compares the kinds of files with those that their arguments read.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/misplaced_files.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "partita/options/file_kinds.h"
#include "partita/options/recognize_file.h"
#include "tools/partita/file_uses.h"

namespace partita {
namespace {

// Where a command reads a file.
struct Place {
  std::string where;  // "small.onnx", "--machine small.onnx"
  std::string path;
  FileKinds reads;
  bool is_operand = false;
};

std::string UseIn(const Subcommand& command, const Place& place,
                  FileKind kind) {
  // Elsewhere too, a model is no plan yet.
  const bool wants_plan =
      place.reads.has(FileKind::kPlan) && kModelFiles.has(kind);
  if (wants_plan) return UseOf(kind, place.path);
  std::vector<std::string> flags;
  for (const FlagDef& flag : command.flags) {
    if (flag.reads.has(kind)) flags.push_back(absl::StrCat("--", flag.name));
  }
  if (!flags.empty()) {
    return absl::StrCat("give it by ", flags.size() == 1 ? "" : "one of ",
                        absl::StrJoin(flags, ", "));
  }
  if (!place.is_operand && command.reads.has(kind)) {
    return absl::StrCat("give it as the ", command.operand);
  }
  return UseOf(kind, place.path);
}

absl::Status CheckPlace(const Subcommand& command, const Place& place) {
  if (place.reads.empty() || absl::StartsWith(place.path, "builtin:")) {
    return absl::OkStatus();
  }
  const FileKind kind = KindOfFile(place.path);
  // A text or JSON may be a damaged file of a kind that is read there.
  constexpr FileKinds kVague = {FileKind::kUnknown, FileKind::kText,
                                FileKind::kJson};
  if (place.reads.has(kind) || kVague.has(kind)) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(place.where, ": found ", NameOf(kind),
                                    "; expected ", NamesOf(place.reads), "; ",
                                    UseIn(command, place, kind)));
}

}  // namespace

absl::Status CheckFileKinds(const Subcommand& command,
                            const Arguments& arguments) {
  const std::vector<std::string>& operands = arguments.positional();
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_second = i == 1 && command.second_operand != nullptr;
    PARTITA_RETURN_IF_ERROR(CheckPlace(
        command, {operands[i], operands[i],
                  is_second ? command.second_reads : command.reads, true}));
  }
  for (const FlagDef& flag : command.flags) {
    for (const std::string& value : arguments.GetAll(flag.name)) {
      const std::string path =
          flag.file == FileUse::kReadsBound ? BoundPath(value) : value;
      PARTITA_RETURN_IF_ERROR(CheckPlace(
          command,
          {absl::StrCat("--", flag.name, " ", value), path, flag.reads}));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita

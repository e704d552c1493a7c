// A subcommand of the partita program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_
#define PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partita/options/arguments.h"
#include "partita/options/file_kinds.h"

namespace partita {

struct Subcommand {
  const char* name;
  const char* usage;  // "compile MODEL --machine FILE --output PLAN"
  const char* doc;    // what it does, in a few lines
  // what its one operand is, "model" or "plan"; null: it takes none
  const char* operand;
  FileKinds reads = {};  // as operands
  // The other operand of a command that takes two: "node"; null: it takes one.
  const char* second_operand = nullptr;
  FileKinds second_reads = {};  // as second operand
  // takes any number of such operands, none included
  bool repeats_operand = false;
  absl::Span<const FlagDef> flags;
  // The same flags, as --help groups them; empty: one list.
  absl::Span<const FlagGroup> groups = {};
  // Operands that are no files, for completion: "builtin:resnet50".
  std::vector<std::string> (*offers)() = nullptr;
  // Flags that make a model smaller; null: --dim and --shape if it has them.
  const char* (*size_flags)(const Arguments& arguments) = nullptr;
  absl::Status (*run)(const Arguments& arguments);
};

extern const Subcommand kDevicesCommand;
extern const Subcommand kProfileCommand;
extern const Subcommand kInspectCommand;
extern const Subcommand kCompileCommand;
extern const Subcommand kLeaderboardCommand;
extern const Subcommand kCheckCommand;
extern const Subcommand kFitsCommand;
extern const Subcommand kSimulateCommand;
extern const Subcommand kDiffCommand;
extern const Subcommand kExplainCommand;
extern const Subcommand kRunCommand;
extern const Subcommand kTrainCommand;
extern const Subcommand kViewCommand;

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_

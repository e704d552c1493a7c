// What every subcommand of the partita program looks like.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_
#define PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/partita/arguments.h"

namespace partita {

struct Subcommand {
  const char* name;
  const char* usage;    // "compile MODEL --machine FILE -o PLAN"
  const char* doc;      // what it does, a few lines
  const char* operand;  // "model", of which it takes one; null for none
  absl::Span<const FlagDef> flags;
  // The same flags, as --help shows them; empty: in one list.
  absl::Span<const FlagGroup> groups = {};
  // Those by which a model is made smaller; null: usual ones of models.
  const char* (*size_flags)(const Arguments& arguments) = nullptr;
  absl::Status (*run)(const Arguments& arguments);
};

extern const Subcommand kDevicesCommand;
extern const Subcommand kInspectCommand;
extern const Subcommand kCompileCommand;
extern const Subcommand kCheckCommand;
extern const Subcommand kSimulateCommand;
extern const Subcommand kRunCommand;
extern const Subcommand kTrainCommand;
extern const Subcommand kViewCommand;

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_SUBCOMMAND_H_

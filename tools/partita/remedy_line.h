// What to give the program instead, where a plan does not fit into memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_
#define PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "placement/machine/machine.h"
#include "tools/partita/arguments.h"

namespace partita {

// `partita COMMAND` with these arguments, which does not fit.
struct UnfitCommand {
  absl::string_view command;
  const Arguments& arguments;
  const Machine& machine;
  // The model as such arguments ask for it.
  std::function<absl::StatusOr<Module>(const Arguments&)> read;
  // Smaller extents than the arguments give are as good: a training's batch is
  // part of what it computes.
  bool extents_may_shrink = true;
  // The plan is run by this host as it is: no other machine's file helps.
  bool runs_on_host = false;
};

// The compiler's status; of a refusal for memory, with a command line ready to
// be given instead. The compiler's own remedy comes first, as it keeps what is
// computed; then smaller extents, where the arguments give any; then the
// smallest larger machine whose file lies beside that of --machine. Where none
// of these fits, it says so.
absl::Status WithCommandLine(const absl::Status& status,
                             const UnfitCommand& unfit);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_

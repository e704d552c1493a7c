// What to call instead if a plan does not fit into memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_
#define PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "partita/options/arguments.h"
#include "placement/machine/machine.h"

namespace partita {

// `partita COMMAND` with these arguments, which does not fit.
struct UnfitCommand {
  absl::string_view command;
  const Arguments& arguments;
  const Machine& machine;
  // Reads the model for such arguments.
  std::function<absl::StatusOr<Module>(const Arguments&)> read;
  // True if smaller extents are acceptable. They are not for a training, whose
  // batch is part of what it computes.
  bool extents_may_shrink = true;
  // True if this host runs the plan, so no other machine file helps.
  bool runs_on_host = false;
};

// The compiler's status. For a refusal for memory, adds a command line to call
// instead: first the compiler's own remedy, which does not change what is
// computed; then smaller extents, if the arguments give any; then the smallest
// larger machine in the folder of --machine. If none of these fits, says so.
absl::Status WithCommandLine(const absl::Status& status,
                             const UnfitCommand& unfit);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_REMEDY_LINE_H_
